"""Figures 6 and 7: sentences of both languages, by a map and by CKA, a row for each kind of model."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from isoglot.pipeline.cells import FIGURE_6, FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.readers import SENTENCES_CUT
from isoglot.report.figures.layer_series import (
    LayerFigure,
    Series,
    SeriesKind,
    few_pairs,
    pair_title,
    pairs_of,
    pearson,
    series_of,
    shown,
)
from isoglot.report.layer_scores import single_value
from isoglot.report.published import FIGURE_7_CKA
from isoglot.study.conditions import MONOLINGUAL, label_of
from isoglot.study.searches import NewVectors

RETRIEVAL = "aligned_retrieval_p1"
CKA = "cka"
OTHER_MEASURES = {
    "cka_debiased": ("debiased CKA", "which few sentences do not raise"),
    "svcca": ("SVCCA", "how far the main directions of both agree, whatever way they are turned"),
    "neuron_correlation": ("ANC", "how far each neuron does the same in both"),
}
PAPERS_CORRELATION = 0.9


def rows_of(
    measurements: Sequence[Measurement], *, exhibit: str, metric: str, languages: tuple[str, str]
) -> tuple[Series, ...]:
    """Models of both languages, then of one each, then with an untrained one of the target."""
    here = [each for each in measurements if each.exhibit == exhibit and each.languages == languages]
    conditions = dict.fromkeys(each.condition for each in here)
    kinds: list[SeriesKind] = [(label_of(name), name, metric, None) for name in conditions if name != MONOLINGUAL.name]
    kinds.append((MONOLINGUAL.label, MONOLINGUAL.name, metric, None))
    kinds.append((f"{MONOLINGUAL.label}, {shown(languages[1])} untrained", MONOLINGUAL.name, metric, UNTRAINED))
    return series_of(here, kinds, exhibit=exhibit, languages=languages)


def retrieval_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LayerFigure]:
    """Figure 6."""
    for languages in pairs_of(measurements, FIGURE_6):
        rows = rows_of(measurements, exhibit=FIGURE_6, metric=RETRIEVAL, languages=languages)
        chance = single_value(measurements, metric=f"{RETRIEVAL}_chance", languages=languages)
        fitted = single_value(measurements, metric="fitted_pairs", languages=languages)
        dimensions = single_value(measurements, metric="map_dimensions", languages=languages) or 0.0
        if rows and chance is not None and fitted is not None:
            yield LayerFigure(
                name=f"{FIGURE_6}.{'-'.join(languages)}",
                title=f"Figure 6: retrieval of parallel sentences after a map ({pair_title(languages)})",
                unit="precision at 1 (%)",
                decimals=1,
                rows=rows,
                summary_title="best",
                summary=lambda row: row.best,
                references=(("chance", chance),),
                notes=(
                    f"Mean of both directions; chance {chance:.1f}. Each layer's map was fitted on {fitted:,.0f} other "
                    f"sentences; these are mapped {new_vectors.value}.",
                    *_cut(measurements, exhibit=FIGURE_6, languages=languages),
                    *few_pairs(fitted, dimensions),
                ),
            )


def similarity_figures(measurements: Sequence[Measurement]) -> Iterator[LayerFigure]:
    """Figure 7."""
    for languages in pairs_of(measurements, FIGURE_7):
        rows = rows_of(measurements, exhibit=FIGURE_7, metric=CKA, languages=languages)
        if rows:
            yield LayerFigure(
                name=f"{FIGURE_7}.{'-'.join(languages)}",
                title=f"Figure 7: CKA similarity of parallel sentences ({pair_title(languages)})",
                unit="linear CKA",
                decimals=2,
                rows=rows + _published_rows(languages, num_states=max(row.num_states for row in rows)),
                summary_title="mean",
                summary=lambda row: row.means,
                notes=(
                    *_cut(measurements, exhibit=FIGURE_7, languages=languages),
                    *_correlations(measurements, languages),
                    *_other_measures(measurements, languages),
                ),
            )


def _cut(measurements: Sequence[Measurement], *, exhibit: str, languages: tuple[str, str]) -> Iterator[str]:
    """By kind of model, where a sentence of any was longer than its windows."""
    found: dict[str, dict[str, float]] = {}
    for each in measurements:
        if (each.exhibit, each.metric, each.variant, each.languages) == (exhibit, SENTENCES_CUT, None, languages):
            found.setdefault(each.condition, {})[each.language] = each.value
    alike: dict[str, list[str]] = {}
    for condition, shares in found.items():
        if any(shares.values()):
            text = ", ".join(f"{shown(language)} {share:.1f}%" for language, share in shares.items())
            alike.setdefault(text, []).append(label_of(condition))
    parts = [f"{text} ({', '.join(labels)})" if len(alike) > 1 else text for text, labels in alike.items()]
    if parts:
        yield f"Sentences cut at the end of a window: {'; '.join(parts)}."


def _published_rows(languages: tuple[str, str], *, num_states: int) -> tuple[Series, ...]:
    """The paper's own, where it has the pair and models are as deep."""
    published = FIGURE_7_CKA.get(languages, {})
    return tuple(
        Series(label=f"paper: {kind}", by_seed=(dict(enumerate(values)),), is_published=True)
        for kind, values in published.items()
        if len(values) == num_states
    )


def _correlations(measurements: Sequence[Measurement], languages: tuple[str, str]) -> Iterator[str]:
    """Correlations of CKA with retrieval over layers, where both were measured for the same models (section 5.2)."""
    similar = rows_of(measurements, exhibit=FIGURE_7, metric=CKA, languages=languages)
    retrieved = {
        row.label: row for row in rows_of(measurements, exhibit=FIGURE_6, metric=RETRIEVAL, languages=languages)
    }
    correlations = []
    for row in similar:
        if row.label in retrieved:
            found = pearson(row.layers, retrieved[row.label].layers)
            correlations.append(f"{row.label} {'undefined' if found is None else f'{found:.2f}'}")
    if correlations:
        yield (
            "Pearson correlation of CKA with Figure 6's retrieval over layers (the paper: above "
            f"{PAPERS_CORRELATION} for models of one language each): {'; '.join(correlations)}."
        )


def _other_measures(measurements: Sequence[Measurement], languages: tuple[str, str]) -> Iterator[str]:
    for metric, (title, meaning) in OTHER_MEASURES.items():
        rows = rows_of(measurements, exhibit=FIGURE_7, metric=metric, languages=languages)
        if rows:
            text = "; ".join(f"{row.label} {fmean(row.means):.2f}" for row in rows)
            yield f"Mean {title} over layers, {meaning}: {text}."
