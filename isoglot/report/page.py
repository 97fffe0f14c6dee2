"""The report of a study as files: every measurement as JSON lines, and a page that can be read without isoglot."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from isoglot.artifacts import Store
from isoglot.artifacts.disk import clear_disk_errors, write_whole
from isoglot.artifacts.lease import lease
from isoglot.artifacts.store import ignore_holder
from isoglot.cells import VOCABULARY
from isoglot.conditions import MONOLINGUAL, condition_named
from isoglot.exhibits import cells, gap_sentences
from isoglot.figures import FIGURE_7
from isoglot.measurements import Measurement
from isoglot.report.agreement import HEADING, told_apart
from isoglot.report.layer_figures import layer_figures
from isoglot.report.layer_series import LayerFigure, pairs_of
from isoglot.report.logs import log_links
from isoglot.report.pictures import HEAT_MAP, picture_name, pictures
from isoglot.report.quantities import mean_and_range
from isoglot.report.rows import Row
from isoglot.report.sections import sections
from isoglot.report.table_1 import TRANSFER_HEADING, Table1, table_1
from isoglot.report.tables import DESCRIPTION, described
from isoglot.report.vocabulary import HEADINGS, vocabulary_tables
from isoglot.study import Study, Synthetic

PAGE = "report.md"
MEASUREMENTS = "measurements.jsonl"


def write_report(
    study: Study, measurements: Sequence[Measurement], *, store: Store, failures: Sequence[str] = ()
) -> Path:
    """Write the report beside the artifacts it was made from, and tell what could not be made; return its path."""
    # By what it shows as well as by name: one seed's report must not replace that of three.
    shown = sha256("".join(cell.stage.digest for cell in cells(study)).encode()).hexdigest()
    folder = store.root / "reports" / f"{study.name}-{shown[:8]}"
    lines = "".join(each.json_line() + "\n" for each in measurements)
    with clear_disk_errors(store.root):
        folder.mkdir(parents=True, exist_ok=True)
        # Two runs of one study may come to their end together.
        with lease(folder / "report.lease", waiting=ignore_holder):
            write_whole(folder / MEASUREMENTS, lines)
            for name, picture in pictures(measurements, new_vectors=study.scale.alignment.new_vectors).items():
                write_whole(folder / name, picture)
            logs = log_links(study, store=store, folder=folder)
            write_whole(folder / PAGE, page(study, measurements, failures=failures, logs=logs))
    return folder / PAGE


def page(
    study: Study, measurements: Sequence[Measurement], *, failures: Sequence[str] = (), logs: Sequence[str] = ()
) -> str:
    """The report in Markdown; logs are links."""
    conditions = dict.fromkeys(each.condition for each in measurements)
    parts = [
        f"# {study.name}: {' and '.join(study.languages)}",
        _of_models(study) if {*study.exhibits} - {VOCABULARY} else "Vocabularies alone: no model was asked for.",
        _condition_table(study, [name for name in conditions if name != MONOLINGUAL.name]),
    ]
    if failures:
        parts += ["## Failed", "\n".join(f"- {failure}" for failure in failures)]
    if lacking := gap_sentences(study):
        parts += ["## No data", "\n".join(f"- {sentence}" for sentence in lacking)]
    if (transfer := table_1(measurements)) is not None:
        parts += _of_transfer(transfer)
    for table in vocabulary_tables(measurements):
        lines = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *table.lines]
        parts += [f"## {table.title}", _markdown(lines), f"{table.caption}."]
    for section in sections(measurements):
        parts += [f"## {section.title}", _score_table(section.rows)]
        parts += [f"Chance is {section.chance:.1f}%." if section.chance is not None else ""]
        if section.coverage is not None:
            parts += [f"{section.coverage:.0f}% of the dictionary's pairs are met in the held-out text."]
        if section.agreements:
            told, untold = told_apart(section.agreements)
            sentences = [each.sentence() for each in told] + ([untold] if untold else [])
            parts += [HEADING, "\n".join(f"- {sentence}" for sentence in sentences)]
    if pairs_of(measurements, FIGURE_7):
        parts += ["## Figure 7 at a glance", f"![CKA similarity at every layer]({HEAT_MAP})"]
    for figure in layer_figures(measurements, new_vectors=study.scale.alignment.new_vectors):
        parts += [f"## {figure.title}", f"![{figure.title}]({picture_name(figure)})", _layer_table(figure)]
        parts.append("\n".join(f"- {note}" for note in (*figure.notes, *figure.summary_notes())))
    if logs:
        parts += ["## Logs", "\n".join(f"- {link}" for link in logs)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _of_models(study: Study) -> str:
    scale = study.scale
    checked = ", and no sentence of retrieval stands in the text of the main domain"
    return (
        f"Scale `{scale.name}`: {scale.shape.layers} layers of width {scale.shape.width}, {scale.updates:,} updates of "
        f"{scale.batch} windows of {scale.window} tokens, {scale.tokens:,} tokens a model; seeds "
        f"{', '.join(map(str, study.seeds))}. Nothing maps one language to the other but where a figure says so"
        f"{checked if isinstance(study.text, Synthetic) else ''}."
    )


def _condition_table(study: Study, conditions: Sequence[str]) -> str:
    named = [condition_named(name) for name in conditions]
    described_rows = [(condition.label, *described(condition, scale=study.scale)) for condition in named]
    return _markdown([DESCRIPTION, ["---"] * len(DESCRIPTION), *described_rows])


def _of_transfer(table: Table1) -> Iterator[str]:
    yield f"## {table.title}"
    yield _transfer_table(table)
    yield "\n".join(f"- {note}" for note in table.notes)
    if table.agreement:
        yield TRANSFER_HEADING
        yield "\n".join(f"- {line}" for line, _ in table.agreement)
    for counts in table.counts:
        yield f"### {counts.title}"
        yield _markdown([counts.headings, ["---", "---", *["---:"] * (len(counts.headings) - 2)], *counts.lines])


def _transfer_table(table: Table1) -> str:
    """Markdown knows one row of headings only, so that languages are the first row below the tasks."""
    num_columns = sum(len(task.headings) for task in table.tasks)
    lines = [
        ["", *(cell for task in table.tasks for cell in [task.title, *[""] * (len(task.headings) - 1)])],
        ["---", *["---:"] * num_columns],
        ["**Model**", *(f"**{heading}**" for task in table.tasks for heading in task.headings)],
    ]
    for is_pretrained, alike in groupby(table.models, key=lambda model: model.is_pretrained):
        if not is_pretrained:
            lines.append(["*never pretrained:*", *[""] * num_columns])
        for model in alike:
            lines.append([model.label])
            for task in table.tasks:
                *of_targets, delta, of_source = task.cells[model]
                lines[-1] += [*of_targets, f"**{delta}**", f"*{of_source}*"]
    return _markdown(lines)


def _score_table(of_pair: Sequence[Row]) -> str:
    layers = [f"L{layer}" for layer in range(len(of_pair[0].layers))]
    headings = ["Model", *layers, "best", "untrained"]
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)]]
    for row in of_pair:
        scores = [f"{score:.1f}" for score in row.layers]
        best = f"**{mean_and_range(row.best)}**"
        lines.append([condition_named(row.condition).label, *scores, best, f"{row.mean_untrained_best:.1f}"])
    return _markdown(lines)


def _layer_table(figure: LayerFigure) -> str:
    headings = ["Model", *(f"L{layer}" for layer in range(figure.num_states)), figure.summary_title]
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)]]
    lines += [[row.label, *figure.texts(row), f"**{figure.summary_text(row)}**"] for row in figure.rows]
    return _markdown(lines)


def _markdown(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
