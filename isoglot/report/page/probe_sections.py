"""Sections of a probe's page: sentences without a map and after one, CKA and words, each with its floors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from isoglot.pipeline.cells import EMERGENCE, FIGURE_4, FIGURE_6, FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.probing import BOTH_UNTRAINED
from isoglot.report.figures.layer_figures import (
    CKA,
    LIKENESS,
    OTHER_MEASURES,
    PRECISION,
    RETRIEVAL,
    correlation_text,
    few_pairs_note,
    layer_figure,
    words_text,
)
from isoglot.report.figures.line_charts import LineFigure, line_picture, on_one_axis
from isoglot.report.figures.picture import Picture
from isoglot.report.figures.similarity_pictures import similarity_picture
from isoglot.report.findings.layer_scores import CENTRED, Line, Pair, Panel, pair_title, panels
from isoglot.report.page.section import Figure, Section
from isoglot.study.searches import NewVectors

RANDOM = "Random: the same architecture and tokenizer as before any training, seed 0 (the second of two models: 1)."
SPELLED_ALIKE = "Words that both languages spell alike are among the answers, but are not asked for."
LENGTHS = (
    "Length alone is the CKA of one number a line, the logarithm of its length. It is no floor: vectors that hold more "
    "than lengths may come below it."
)
Rows = Mapping[str, tuple[str, str | None]]
"""The label of each line, and its metric and variant."""


class Kind(NamedTuple):
    """A section of the page: its figure has these lines and dashed levels."""

    exhibit: str
    title: str
    unit: str
    rows: Rows
    levels: Mapping[str, str]


def _with_floors(metric: str) -> Rows:
    floors = {"{b} random": (metric, UNTRAINED), "both random": (metric, BOTH_UNTRAINED)}
    return {"trained": (metric, None), **floors}


WITHOUT_MAP, AFTER_MAP, SIMILARITY, WORDS = KINDS = (
    Kind(
        EMERGENCE,
        "Sentences without a map",
        PRECISION,
        {
            "centred": ("retrieval_p1", None),
            "raw": ("retrieval_p1_uncentred", None),
            "random, centred": ("retrieval_p1", BOTH_UNTRAINED),
            "random, raw": ("retrieval_p1_uncentred", BOTH_UNTRAINED),
        },
        {"chance": "retrieval_p1_chance", "length alone": "retrieval_p1_by_length"},
    ),
    Kind(
        FIGURE_6,
        "Sentences after a map",
        PRECISION,
        _with_floors(RETRIEVAL),
        {"chance": f"{RETRIEVAL}_chance", "length alone": f"{RETRIEVAL}_by_length"},
    ),
    Kind(FIGURE_7, "CKA of parallel sentences", LIKENESS, _with_floors(CKA), {"length alone": f"{CKA}_by_length"}),
    Kind(
        FIGURE_4,
        "Words after a map",
        PRECISION,
        {
            "{a} to {b}": ("contextual_p1", None),
            "random, {a} to {b}": ("contextual_p1", BOTH_UNTRAINED),
        },
        {"token table, {a} to {b}": "embedding_p1"},
    ),
)


@dataclass(frozen=True, kw_only=True)
class ProbeScores:
    """The numbers of one model, or of two that are held against each other."""

    name: str
    measurements: Sequence[Measurement]
    notes: Mapping[Pair, Sequence[str]]
    """For each pair of languages."""
    new_vectors: NewVectors

    def panel(self, kind: Kind, languages: Pair) -> Panel | None:
        return next((each for each in panels(self.measurements, kind.exhibit) if each.languages == languages), None)

    def lines(self, kind: Kind, languages: Pair) -> dict[str, Line]:
        """The lines of a figure, by label."""
        (a, b), panel = languages, self.panel(kind, languages)
        kinds = (
            (label.format(a=a, b=b), (metric, self.name, variant)) for label, (metric, variant) in kind.rows.items()
        )
        return {line.label: line for line in panel.lines(kinds)} if panel else {}

    def values(self, kind: Kind, languages: Pair, *, variant: str | None = None) -> dict[str, float]:
        """Chance, coverage and whatever else has no layer."""
        panel = self.panel(kind, languages)
        return panel.values(variant=variant) if panel else {}

    def figures(self, kind: Kind) -> list[LineFigure]:
        """One for each pair that has been measured."""
        figures = []
        for languages, notes in self.notes.items():
            if lines := self.lines(kind, languages):
                (a, b), values = languages, self.values(kind, languages)
                named = {label.format(a=a, b=b): metric for label, metric in kind.levels.items()}
                levels = {label: values[metric] for label, metric in named.items() if metric in values}
                below = [*_notes(self, kind, languages), *(notes if kind is AFTER_MAP else ()), RANDOM]
                drawn = layer_figure(
                    kind.exhibit, kind.title, languages, [*lines.values()], unit=kind.unit, levels=levels, notes=below
                )
                figures.append(drawn)
        return figures


def probe_sections(scores: ProbeScores) -> Iterator[Section]:
    """In the order of KINDS."""
    for kind in KINDS:
        if figures := on_one_axis(scores.figures(kind)):
            yield Section(
                anchor=kind.exhibit,
                words=f"probe-{kind.exhibit}",
                figures=[Figure(line_picture(each), notes=each.notes, charts=each.charts) for each in figures],
                first=[Figure(_similarity_map(scores))] if kind is SIMILARITY else [],
            )


def _similarity_map(scores: ProbeScores) -> Picture:
    groups = {}
    for pair in scores.notes:
        columns = ("Trained", f"{pair[1]} random", "Both random")
        lines = scores.lines(SIMILARITY, pair).values()
        groups[pair_title(pair)] = {column: line.layers for column, line in zip(columns, lines, strict=True)}
    return similarity_picture(FIGURE_7, SIMILARITY.title, groups)


def _notes(scores: ProbeScores, kind: Kind, languages: Pair) -> Iterator[str]:
    values = scores.values(kind, languages)
    if kind is WITHOUT_MAP:
        yield CENTRED
    if kind is AFTER_MAP:
        fitted, tests = values["fitted_pairs"], values["tests"]
        yield (
            f"Mean of both directions. Each layer's map was fitted on {fitted:,.0f} sentences and tested on "
            f"{tests:,.0f} others, which are mapped {scores.new_vectors.value}."
        )
    if kind is SIMILARITY:
        both = (scores.lines(each, languages)["trained"].layers for each in (SIMILARITY, AFTER_MAP))
        yield LENGTHS
        yield f"Pearson correlation of CKA with retrieval after a map, over layers: {correlation_text(*both)}."
        for metric, (title, meaning) in OTHER_MEASURES.items():
            floors = kind._replace(rows=_with_floors(metric))
            means = [f"{label} {line.means[0]:.2f}" for label, line in scores.lines(floors, languages).items()]
            if means:
                yield f"Mean {title} over layers, {meaning}: {'; '.join(means)}."
    if kind is WORDS:
        yield f"Averaged states of the words in these sentences: {words_text('contextual', values)}."
        yield f"Token table, rows that are whole words: {words_text('embedding', values)}."
        floor = scores.values(kind, languages, variant=BOTH_UNTRAINED)
        if "embedding_p1" in floor:
            yield f"A table of random rows: {floor['embedding_p1']:.1f}."
        yield SPELLED_ALIKE
        yield from few_pairs_note(values["contextual_fitted_pairs"], values)
