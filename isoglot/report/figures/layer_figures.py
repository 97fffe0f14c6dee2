"""Figures 4 to 8 for people: one table and one chart each for a pair of languages."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.figures import FIGURE_5, FIGURE_8
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_series import LayerFigure
from isoglot.report.figures.layer_transfer_figures import layer_transfer_figures
from isoglot.report.figures.sentence_figures import retrieval_figures, similarity_figures
from isoglot.report.figures.word_figures import word_figures
from isoglot.study.searches import NewVectors


def layer_figures(measurements: Sequence[Measurement], *, new_vectors: NewVectors) -> Iterator[LayerFigure]:
    """All that are measured, in the paper's order."""
    yield from word_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_5, new_vectors=new_vectors)
    yield from retrieval_figures(measurements, new_vectors=new_vectors)
    yield from similarity_figures(measurements)
    yield from layer_transfer_figures(measurements, exhibit=FIGURE_8, new_vectors=new_vectors)
