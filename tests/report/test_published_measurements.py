"""The paper's numbers as measurements: all of Table 1 and Figure 7, in the places where a study has them."""

from isoglot.pipeline.figures import FIGURE_7
from isoglot.report.figures.layer_series import pairs_of
from isoglot.report.figures.sentence_figures import similarity_figures
from isoglot.report.published import TABLE_1_SCORES, published_measurements
from isoglot.report.table_1 import table_1

PAPERS = list(published_measurements())


def test_every_number_of_table_1_and_figure_7_is_there_once() -> None:
    assert len(PAPERS) == 10 * 3 * 3 + 5 * 3 * 9
    assert len({(m.exhibit, m.condition, m.languages, m.task, m.metric, m.variant, m.layer) for m in PAPERS}) == len(
        PAPERS
    )


def test_reports_show_them_as_they_are_printed() -> None:
    table = table_1(PAPERS)
    assert table is not None
    assert [model.condition for model in table.models] == list(TABLE_1_SCORES)
    last = table.models[-1]
    assert [task.cells[last][:4] for task in table.tasks] == [
        ("51.6", "35.8", "34.4", "-29.6"),
        ("56.5", "5.4", "1.0", "-47.1"),
        ("50.9", "6.4", "1.5", "-33.3"),
    ]
    chinese = next(figure for figure in similarity_figures(PAPERS) if figure.name == f"{FIGURE_7}.en-zh")
    bilingual, monolingual, untrained, *_ = chinese.rows
    assert (bilingual.layers[0], monolingual.layers[7], untrained.layers[8]) == (0.56, 0.37, 0.27)
    assert pairs_of(PAPERS, FIGURE_7)[0] == ("en", "en-prime")
