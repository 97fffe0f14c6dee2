"""Sections of a probe's page: sentences without a map and after one, CKA and words, each with its floors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from isoglot.report.figures.layer_series import Line, LineFigure, Pair, mean_values, pair_title, series_of
from isoglot.report.figures.line_charts import line_picture
from isoglot.report.figures.picture import Picture
from isoglot.report.figures.similarity_pictures import similarity_picture
from isoglot.report.layer_scores import CENTRED
from isoglot.report.page.section import Figure, Section

RANDOM = (
    "Random weights: the same architecture and tokenizer as before any training, seed 0 (the second of two models: 1)."
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
            "random weights, centred": ("retrieval_p1", BOTH_UNTRAINED),
            "random weights, raw": ("retrieval_p1_uncentred", BOTH_UNTRAINED),
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
            "{b} to {a}": ("contextual_p1_to_source", None),
            "random weights, {a} to {b}": ("contextual_p1", BOTH_UNTRAINED),
            "random weights, {b} to {a}": ("contextual_p1_to_source", BOTH_UNTRAINED),
        },
        {"token table, {a} to {b}": "embedding_p1", "token table, {b} to {a}": "embedding_p1_to_source"},
    ),
)


@dataclass(frozen=True, kw_only=True)
class ProbeScores:
    """The numbers of one model, or of two that are held against each other."""

    name: str
    measurements: Sequence[Measurement]

    def lines(self, kind: Kind, languages: Pair) -> dict[str, Line]:
        """The lines of a figure, by label."""
        a, b = languages
        kinds = [(label.format(a=a, b=b), self.name, *of) for label, of in kind.rows.items()]
        found = series_of(self.measurements, kinds, exhibit=kind.exhibit, languages=languages)
        return {line.label: line for line in found}

    def values(self, kind: Kind, languages: Pair) -> dict[str, float]:
        """Chance, coverage and whatever else has no layer."""
        return mean_values(self.measurements, exhibit=kind.exhibit, languages=languages)


def probe_sections(scores: ProbeScores, pairs: Mapping[Pair, Sequence[str]], *, new_vectors: str) -> Iterator[Section]:
    """In the order of KINDS; `pairs` have the notes of each pair of languages."""
    for kind in KINDS:
        figures = [
            _figure(scores, kind, pair, notes=notes if kind is AFTER_MAP else (), new_vectors=new_vectors)
            for pair, notes in pairs.items()
            if scores.lines(kind, pair)
        ]
        if not figures:
            continue
        # Pairs of languages are compared by eye, which takes one axis.
        room = max(chart.highest for figure in figures for chart in figure.charts)
        shown = [replace(each, charts=[replace(chart, shown=(0.0, room)) for chart in each.charts]) for each in figures]
        yield Section(
            anchor=kind.exhibit,
            words=f"probe-{kind.exhibit}",
            figures=[Figure(line_picture(each), notes=each.notes, charts=each.charts) for each in shown],
            first=[Figure(_similarity_map(scores, pairs))] if kind is SIMILARITY else [],
        )


def _figure(scores: ProbeScores, kind: Kind, languages: Pair, *, notes: Sequence[str], new_vectors: str) -> LineFigure:
    (a, b), values = languages, scores.values(kind, languages)
    levels = {label.format(a=a, b=b): values[metric] for label, metric in kind.levels.items() if metric in values}
    return layer_figure(
        kind.exhibit,
        kind.title,
        languages,
        [*scores.lines(kind, languages).values()],
        unit=kind.unit,
        levels=levels,
        notes=[*_notes(scores, kind, languages, new_vectors=new_vectors), *notes, RANDOM],
    )


def _similarity_map(scores: ProbeScores, pairs: Iterable[Pair]) -> Picture:
    groups = {}
    for pair in pairs:
        columns = ("Trained", f"{pair[1]} random", "Both random")
        lines = scores.lines(SIMILARITY, pair).values()
        groups[pair_title(pair)] = {column: line.layers for column, line in zip(columns, lines, strict=True)}
    return similarity_picture(FIGURE_7, SIMILARITY.title, groups)


def _notes(scores: ProbeScores, kind: Kind, languages: Pair, *, new_vectors: str) -> Iterator[str]:
    values = scores.values(kind, languages)
    if kind is WITHOUT_MAP:
        yield CENTRED
    if kind is AFTER_MAP:
        fitted, tests = values["fitted_pairs"], values["tests"]
        yield (
            f"Mean of both directions. Each layer's map was fitted on {fitted:,.0f} sentences and tested on "
            f"{tests:,.0f} others, which are mapped {new_vectors}."
        )
    if kind is SIMILARITY:
        both = (scores.lines(each, languages)["trained"].layers for each in (SIMILARITY, AFTER_MAP))
        yield f"Pearson correlation of CKA with retrieval after a map, over layers: {correlation_text(*both)}."
        for metric, (title, meaning) in OTHER_MEASURES.items():
            floors = kind._replace(rows=_with_floors(metric))
            means = [f"{label} {line.means[0]:.2f}" for label, line in scores.lines(floors, languages).items()]
            if means:
                yield f"Mean {title} over layers, {meaning}: {'; '.join(means)}."
    if kind is WORDS:
        yield f"Averaged states of the words in these sentences: {words_text('contextual', values)}."
        yield f"Token table, rows that are whole words: {words_text('embedding', values)}."
        yield from few_pairs_note(values["contextual_fitted_pairs"], values)
