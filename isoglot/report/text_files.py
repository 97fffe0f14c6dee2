"""What stands beside a page to be put into papers, spreadsheets and READMEs: Table 1 and the claims."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import rank_sentences
from isoglot.report.claims import claims
from isoglot.report.claims.evidence import Transfer
from isoglot.report.condition_words import GROUPS
from isoglot.report.table_1 import DELTA, MISSING, Table1, TaskColumns, papers_delta, papers_score_of, table_1
from isoglot.report.transfer_scores import Model
from isoglot.report.verdicts import Claim, Noise, Verdict, said_of_seeds
from isoglot.study.conditions import condition_named


def markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_escaped, cells))} |"


def markdown_escaped(text: str) -> str:
    """So that it is shown as it is."""
    return text.replace("|", r"\|").replace("*", r"\*")


Column = tuple[str, list[str]]


def csv_table(table: Table1) -> str:
    """Scores are in percent; a column that would be empty is left out."""
    columns: list[Column] = [
        ("Model", [model.label for model in table.models]),
        ("Condition", [model.condition for model in table.models]),
    ]
    for task in table.tasks:
        columns += [column for column in _csv_columns(task, table.models) if any(column[1])]
    headings, cells = zip(*columns, strict=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue()


def _csv_columns(task: TaskColumns, models: Sequence[Model]) -> Iterator[Column]:
    *targets, _, source = task.headings
    for language in (*targets, source):
        values = [task.values[model, language] for model in models]
        title = f"{task.title} {language}"
        yield title, [f"{fmean(each):.2f}" if each else "" for each in values]
        several = [each if len(each) > 1 else () for each in values]
        yield f"{title} lowest", [f"{min(each):.2f}" if each else "" for each in several]
        yield f"{title} highest", [f"{max(each):.2f}" if each else "" for each in several]
        yield f"{title} seeds", [str(len(each)) if any(several) else "" for each in values]
        printed = [papers_score_of(model, task=task.name, languages=(source, language)) for model in models]
        yield f"{title} paper", ["" if each is None else f"{each:.1f}" for each in printed]
    deltas = [task.deltas[model] for model in models]
    yield f"{task.title} {DELTA}", ["" if each is None else f"{each.points:.2f}" for each in deltas]
    yield f"{task.title} {DELTA} over some targets only", ["yes" if each and each.is_partial else "" for each in deltas]
    papers_deltas = [papers_delta(model, task=task.name, source=source, targets=targets) for model in models]
    yield f"{task.title} {DELTA} paper", ["" if each is None else f"{each:.2f}" for each in papers_deltas]


WIDTH_POINTS = 345
"""Of a line of the article class."""
SEPARATION_POINTS = 2.5
# How wide a character is, in points.
SIZES = {"small": 4.6, "footnotesize": 4.25, "scriptsize": 3.9, "tiny": 3.1}
SIZES_SIDE_BY_SIDE = ("small", "footnotesize", "scriptsize")
UNTRAINED_HEADING = "Never pretrained"
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # At the start of a row it would be the argument of the line break before.
    **{character: f"{{{character}}}" for character in "[]*"},
    DELTA: r"$\Delta$",
    # In text it would be of a font that plain installations must draw first.
    "§": r"$\S$",
}


def latex_table(table: Table1) -> str:
    """A table environment, for \\input in any document; one for each task where a line is too short for all."""
    size = next((name for name in SIZES if _fits(table.tasks, table.models, size=name)), None)
    if size in SIZES_SIDE_BY_SIDE:
        panels = [table.tasks]
    else:
        panels = [(task,) for task in table.tasks]
        size = next((name for name in SIZES if all(_fits(each, table.models, size=name) for each in panels)), "tiny")
    lines = ["% Table 1 of a study, written by isoglot: put it where you want it with \\input. It needs no package."]
    for place, tasks in enumerate(panels):
        is_alone = len(panels) == 1
        title = _title(table) if is_alone else f"{_title(table)}: {tasks[0].title}"
        caption = f"{title}." + ("" if place else _notes(table))
        lines += [
            r"\begin{table}",
            r"\centering",
            rf"\{size}",
            rf"\setlength{{\tabcolsep}}{{{SEPARATION_POINTS}pt}}",
            r"\renewcommand{\arraystretch}{1.15}",
            *_tabular(table.models_of(tasks), tasks),
            rf"\caption[{escaped(title)}]{{{escaped(caption)}}}",
            rf"\label{{tab:transfer{'' if is_alone else f'-{tasks[0].name}'}}}",
            r"\end{table}",
        ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX prints it, whatever characters it has."""
    return "".join(SPECIAL.get(character, character) for character in text)


def _title(table: Table1) -> str:
    """LaTeX numbers its tables itself."""
    title = table.title.removeprefix("Table 1: ")
    return title[:1].upper() + title[1:]


def _notes(table: Table1) -> str:
    is_lost = any(task.lost for task in table.tasks)
    return "".join(f" {each}" for each in (*table.notes, *(["In italics: no transfer."] if is_lost else [])))


def _tabular(models: Sequence[Model], tasks: Sequence[TaskColumns]) -> Iterator[str]:
    num_columns = 1 + sum(len(task.headings) for task in tasks)
    # Tasks stand apart, and so does the source's own score.
    columns = "".join(r"@{\qquad}" + "r" * (len(task.headings) - 1) + r"@{\quad}r" for task in tasks)
    yield rf"\begin{{tabular}}{{l{columns}}}"
    yield r"\hline"
    spans = [rf"\multicolumn{{{len(task.headings)}}}{{c}}{{{escaped(task.title)}}}" for task in tasks]
    yield _row(["", *spans])
    yield _row(["Model", *(escaped(heading) for task in tasks for heading in task.headings)])
    yield r"\hline"
    for group, alike in groupby(models, key=_group):
        if group:
            yield _row([rf"\multicolumn{{{num_columns}}}{{l}}{{\emph{{{escaped(group)}}}}}"])
        for model in alike:
            yield _row([escaped(model.label), *(cell for task in tasks for cell in _cells(task, model))])
    yield r"\hline"
    yield r"\end{tabular}"


def _group(model: Model) -> str:
    """As in the paper: "Anchor points (§4.2)", and none for Default."""
    if not model.is_pretrained:
        return UNTRAINED_HEADING
    section = condition_named(model.condition).section
    return f"{GROUPS[section]} (§{section})" if section in GROUPS else ""


def _cells(task: TaskColumns, model: Model) -> Iterator[str]:
    for heading, cell in zip(task.headings, task.cells[model], strict=True):
        if heading == DELTA:
            yield f"${cell[0]}${escaped(cell[1:])}" if cell[0] in "+-" and len(cell) > 1 else escaped(cell)
        else:
            text = escaped(cell).replace("-", "--") if "(" in cell else escaped(cell)
            yield rf"\textit{{{text}}}" if (model, heading) in task.lost else text


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _fits(tasks: Sequence[TaskColumns], models: Sequence[Model], *, size: str) -> bool:
    characters = max(len(model.label) for model in models)
    num_columns = 1
    for task in tasks:
        columns = [
            [heading, *(task.cells[model][place] for model in models)] for place, heading in enumerate(task.headings)
        ]
        characters += max(sum(max(map(len, column)) for column in columns), len(task.title)) + 4
        num_columns += len(columns)
    return characters * SIZES[size] + num_columns * 2 * SEPARATION_POINTS <= WIDTH_POINTS


PAPER = "paper"
NEVER_PRETRAINED = "The same models without pretraining, learned as a whole / with a frozen encoder:"


def markdown_table(table: Table1) -> str:
    """A heading, a table for each task, and below them what must be said of their numbers."""
    parts = [f"## {markdown_escaped(table.title)}"]
    for task in table.tasks:
        models = table.models_of([task])
        pretrained, others = ([each for each in models if each.is_pretrained is wanted] for wanted in (True, False))
        parts.append(f"### {markdown_escaped(task.title)}")
        if pretrained:
            parts.append("\n".join(_lines(_columns(task, pretrained))))
        if others:
            parts += [NEVER_PRETRAINED, "\n".join(_lines(_columns_of_baselines(task, others)))]
    said = (*rank_sentences(table.ranks), *table.notes)
    parts.append("\n".join(f"- {markdown_escaped(each)}" for each in said))
    return "\n\n".join(parts) + "\n"


def _lines(columns: Iterator[Column]) -> Iterator[str]:
    headings, cells = zip(*columns, strict=True)
    yield markdown_row(headings)
    yield markdown_row(["---", *("---:" for _ in headings[1:])])
    for row in zip(*cells, strict=True):
        yield markdown_row(row)


def _columns(task: TaskColumns, models: Sequence[Model]) -> Iterator[Column]:
    """What the paper has nothing of gets no column."""
    yield "Model", [model.label for model in models]
    *targets, _, source = task.headings
    for place, heading in enumerate(task.headings):
        yield heading, [task.cells[model][place] for model in models]
        if heading == DELTA:
            papers = [papers_delta(model, task=task.name, source=source, targets=targets) for model in models]
            printed = ["" if each is None else f"{each:+.1f}" for each in papers]
        else:
            papers = [papers_score_of(model, task=task.name, languages=(source, heading)) for model in models]
            printed = ["" if each is None else f"{each:.1f}" for each in papers]
        if any(printed):
            yield PAPER, [each or MISSING for each in printed]


def _columns_of_baselines(task: TaskColumns, models: Sequence[Model]) -> Iterator[Column]:
    """Both kinds of a condition in one cell, as there may be twenty of them."""
    labels = {model.condition: condition_named(model.condition).label for model in models}
    yield "Model", list(labels.values())
    for place, heading in enumerate(task.headings):
        if heading != DELTA:
            of_model = {model: task.cells[model][place] for model in models}
            yield heading, [" / ".join(of_model.get(each, MISSING) for each in _baselines(name)) for name in labels]


def _baselines(condition: str) -> list[Model]:
    return [Model(condition=condition, variant=variant) for variant in (UNTRAINED, FROZEN)]


def markdown_claims(claims: Sequence[Claim], *, noise: Noise) -> str:
    """A heading, how many there are of each verdict, and those that were tested, in the paper's order."""
    tested = [claim for claim in claims if claim.verdict is not Verdict.NOT_TESTED]
    of_all, of_each = said_of_seeds(tested)
    lines = [
        markdown_row([f"{claim.sentence} ({claim.source})", claim.verdict.word, claim.numbers + of_each[claim.key]])
        for claim in tested
    ]
    table = "\n".join([markdown_row(["The paper", "We", "Numbers"]), markdown_row(["---"] * 3), *lines])
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in Verdict}
    tally = ", ".join(f"{verdict.word}: {count}" for verdict, count in counts.items() if count)
    said = [f"{tally[0].upper()}{tally[1:]}.", noise.sentence(), of_all]
    return "\n\n".join(["## What the paper claims, and what we find", " ".join(filter(None, said)), table]) + "\n"


CSV, LATEX, MARKDOWN, CLAIMS = "table-1.csv", "table-1.tex", "table-1.md", "claims.md"
ALL = (CSV, LATEX, MARKDOWN, CLAIMS)


def text_files(measurements: Sequence[Measurement]) -> dict[str, str]:
    """Those that a study has something for, by name."""
    files: dict[str, str] = {}
    if table := table_1(measurements):
        files |= {CSV: csv_table(table), LATEX: latex_table(table), MARKDOWN: markdown_table(table)}
    found = claims(measurements)
    if any(claim.verdict is not Verdict.NOT_TESTED for claim in found):
        files[CLAIMS] = markdown_claims(found, noise=Transfer.of(measurements).noise)
    return files
