"""CKA against retrieval, a point for each layer of each kind of model: does one foretell the other (section 5.2)?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.pipeline.figures import FIGURE_6, FIGURE_7
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import pair_title, pairs_of, pearson
from isoglot.report.figures.picture import Picture
from isoglot.report.figures.scatter_chart import Cloud, ScatterChart
from isoglot.report.figures.sentence_figures import CKA, PAPERS_CORRELATION, RETRIEVAL, rows_of


@dataclass(frozen=True, kw_only=True)
class SimilarityScatter:
    """One pair of languages."""

    chart: ScatterChart
    name: str
    correlations: tuple[tuple[str, float | None], ...]
    """Pearson's over the layers of each kind of model, then over all points; None where it says nothing."""

    @property
    def picture(self) -> Picture:
        return Picture(name=self.name, draw=self.chart.drawn)

    @property
    def notes(self) -> tuple[str, ...]:
        told = "; ".join(f"{label} {'undefined' if r is None else f'{r:.2f}'}" for label, r in self.correlations)
        return (
            f"Pearson correlation of CKA and retrieval: {told}.",
            f"The paper finds more than {PAPERS_CORRELATION} over the layers of models of one language each.",
        )


def similarity_scatters(measurements: Sequence[Measurement]) -> Iterator[SimilarityScatter]:
    """Of every pair for which both were measured of the same models."""
    for languages in pairs_of(measurements, FIGURE_7):
        similar = rows_of(measurements, exhibit=FIGURE_7, metric=CKA, languages=languages)
        found = rows_of(measurements, exhibit=FIGURE_6, metric=RETRIEVAL, languages=languages)
        retrieved = {row.label: row for row in found}
        clouds, correlations = [], []
        for row in similar:
            if row.label in retrieved:
                both = enumerate(zip(row.layers, retrieved[row.label].layers, strict=False))
                points = [(f"L{layer}", x, y) for layer, (x, y) in both if x is not None and y is not None]
                clouds.append(Cloud(label=row.label, points=points))
                correlations.append((row.label, pearson(row.layers, retrieved[row.label].layers)))
        if clouds:
            points = [point for cloud in clouds for point in cloud.points]
            together = pearson([x for _, x, _ in points], [y for _, _, y in points])
            yield SimilarityScatter(
                chart=ScatterChart(
                    title=f"CKA and retrieval after a map, layer by layer ({pair_title(languages)})",
                    clouds=clouds,
                    x_title="linear CKA",
                    y_title="precision at 1 (%)",
                ),
                name=f"cka-retrieval.{'-'.join(languages)}",
                correlations=(*correlations, ("all points", together)),
            )
