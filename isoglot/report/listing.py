"""Everything that a study can name: conditions, exhibits, tasks, scales, languages; and isoglot's own studies."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.report.quantities import short_number
from isoglot.study.conditions import CONDITIONS
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.languages import LANGUAGES, Language
from isoglot.study.real_text import task_names
from isoglot.study.scales import SCALES, Scale
from isoglot.study.study import Study, Synthetic, builtin_study_names, read_study
from isoglot.study.synthetic_languages import SyntheticLanguage


def listing() -> Iterator[RenderableType]:
    """Title and table of each kind of name."""
    studies = [read_study(name) for name in builtin_study_names()]
    yield from _rows("Studies", {each.name: _of_study(each) for each in studies})
    yield from _rows(
        "Conditions (and anchors-25, which keeps that share of the shared subwords; anchors-25-random)",
        {each.name: f"{each.label}, section {each.section}" for each in CONDITIONS.values()},
    )
    yield from _rows("Exhibits", EXHIBITS)
    tasks = [task_named(name) for name in task_names()]
    yield from _rows("Tasks", {each.name: f"{each.title}, {each.metric_titles[each.metric]}" for each in tasks})
    yield from _rows("Scales", {name: _of_scale(scale) for name, scale in SCALES.items()})
    yield from _rows(
        "Languages (and any other code; a run says how it finds the words)",
        {code: _of_language(language) for code, language in LANGUAGES.items()},
    )
    made_up = [each.text for each in studies if isinstance(each.text, Synthetic)]
    yield from _rows("Made-up languages", {each.name: _of_made_up(each) for text in made_up for each in text.languages})


def _of_study(study: Study) -> str:
    return f"{'-'.join(study.languages)}, {len(study.conditions)} conditions, scale {study.scale.name}"


def _of_scale(scale: Scale) -> str:
    parameters = short_number(scale.shape.num_parameters(table_size=scale.merges))
    return (
        f"{scale.summary}: {scale.shape.layers} layers of {scale.shape.width}, {parameters} parameters with "
        f"{short_number(scale.merges)} subwords, {short_number(scale.tokens)} tokens a model"
    )


def _of_language(language: Language) -> str:
    return f"{language.name}, words by {language.splitter.value}"


def _of_made_up(language: SyntheticLanguage) -> str:
    return f"{language.order.value}, adpositions {language.adpositions.value}, {language.script.value} script"


def _rows(title: str, rows: dict[str, str]) -> Iterator[RenderableType]:
    yield Text(title, style="bold")
    table = Table.grid(padding=(0, 2))
    for name, text in rows.items():
        table.add_row(f"  {name}", text)
    yield table
