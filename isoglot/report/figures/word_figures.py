"""Figure 4: words of both languages by a map, from the embedding matrix and from every layer, beside fastText."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan

from isoglot.pipeline.figures import FIGURE_4
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import LayerFigure, few_pairs, mean_value, pair_title, pairs_of, series
from isoglot.study.conditions import MONOLINGUAL

ROWS = {
    "contextual_p1": "Monolingual, {source} to {target} by CSLS",
    "contextual_p1_to_source": "Monolingual, {target} to {source} by CSLS",
    "contextual_p1_cosine": "Monolingual, {source} to {target} by cosine",
}
FASTTEXT = "fasttext_of_contextual_words"
Value = Callable[[str], float]


def word_figures(measurements: Sequence[Measurement]) -> Iterator[LayerFigure]:
    for languages in pairs_of(measurements, FIGURE_4):
        source, target = languages
        found = (
            series(
                measurements,
                label=label.format(source=source, target=target),
                exhibit=FIGURE_4,
                metric=metric,
                condition=MONOLINGUAL.name,
                languages=languages,
            )
            for metric, label in ROWS.items()
        )
        rows = tuple(row for row in found if row is not None)

        def value(metric: str, *, languages: tuple[str, str] = languages) -> float:
            return mean_value(measurements, exhibit=FIGURE_4, metric=metric, languages=languages)

        if rows:
            fasttext = {
                f"fastText, {source} to {target}": value(f"{FASTTEXT}_p1"),
                f"fastText, {target} to {source}": value(f"{FASTTEXT}_p1_to_source"),
            }
            yield LayerFigure(
                name=f"{FIGURE_4}.{'-'.join(languages)}",
                title=f"Figure 4b: translation of words after a map ({pair_title(languages)})",
                unit="precision at 1 (%)",
                decimals=1,
                rows=rows,
                summary_title="best",
                summary=lambda row: row.best,
                references=tuple((label, level) for label, level in fasttext.items() if not isnan(level)),
                notes=(*_notes(value), *few_pairs(value("contextual_fitted_pairs"), value("map_dimensions"))),
            )


def _notes(value: Value) -> Iterator[str]:
    """Coverage always stands beside precision: words that a model lacks are not asked for."""
    yield f"4b, averaged states: {_of_words('contextual', value)}."
    yield f"4a, rows of the embedding matrix that are whole words: {_of_words('embedding', value)}."


def _of_words(name: str, value: Value) -> str:
    pairs = value(f"{name}_fitted_pairs")
    if isnan(pairs):
        return "one of the dictionaries has no entry whose words are one subword each"
    asked, coverage = value(f"{name}_asked"), value(f"{name}_coverage")
    told = f"{asked:,.0f} words asked, {coverage:.1f}% of the test pairs covered, map fitted on {pairs:,.0f}"
    if name == "embedding":
        precisions = ", ".join(f"{value(f'{name}_p{at}'):.1f} at {at}" for at in (1, 5, 10))
        told = f"precision {precisions}, back {value(f'{name}_p1_to_source'):.1f}; {told}"
    fasttext = value(f"fasttext_of_{name}_words_p1")
    if not isnan(fasttext):
        back = value(f"fasttext_of_{name}_words_p1_to_source")
        told += f"; fastText on the same words {fasttext:.1f}, back {back:.1f} (its trainings differ)"
    return told
