"""One layer of a model beside one of another: how alike they are, and who finds whose translation."""

# N = lines, D = width, E = width of the other model

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import pad

from isoglot.geometry.cka import debiased_cka, linear_cka
from isoglot.geometry.held_out_lines import HeldOutLines
from isoglot.geometry.neuron_correlation import average_neuron_correlation
from isoglot.geometry.retrieval import Measure, both_directions
from isoglot.geometry.svcca import svcca
from isoglot.geometry.vector_maps import VectorMap
from isoglot.study.searches import NewVectors


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Percent of the test lines whose translation is their nearest neighbour, by cosine."""

    a_to_b: float
    b_to_a: float

    @property
    def mean(self) -> float:
        return (self.a_to_b + self.b_to_a) / 2


@dataclass(frozen=True, kw_only=True)
class LayerComparison:
    """What needs vectors of one width is None where widths differ."""

    layer_a: int
    layer_b: int
    cka: float
    cka_debiased: float
    svcca: float
    neuron_correlation: float | None
    raw: Retrieval | None
    """As the vectors are."""
    centred: Retrieval | None
    """Each side less its mean."""
    aligned: Retrieval
    """After the map from b to a."""


def layer_comparison(
    a_ND: Tensor,
    b_NE: Tensor,
    *,
    layers: tuple[int, int],
    lines: HeldOutLines,
    rounds: int,
    new_vectors: NewVectors,
) -> LayerComparison:
    """Similarity over all lines; retrieval among the tests alone."""

    def retrieval(of_a_ND: Tensor, of_b_ND: Tensor) -> Retrieval:
        forward, backward = both_directions(of_a_ND, of_b_ND, lines.pairs, measure=Measure.COSINE, at=(1,))
        return Retrieval(a_to_b=forward.at[1], b_to_a=backward.at[1])

    has_one_width = a_ND.shape[1] == b_NE.shape[1]
    # Test lines lend nothing to the mean that they are centred with.
    centred = (side[lines.tests] - side[lines.fitted].mean(0) for side in (a_ND, b_NE))
    wide_a_ND, wide_b_ND = _of_one_width(a_ND, b_NE)
    found = VectorMap.fit(wide_b_ND[lines.fitted], wide_a_ND[lines.fitted], rounds=rounds)
    return LayerComparison(
        layer_a=layers[0],
        layer_b=layers[1],
        cka=float(linear_cka(a_ND, b_NE)),
        cka_debiased=float(debiased_cka(a_ND, b_NE)),
        svcca=float(svcca(a_ND, b_NE)),
        neuron_correlation=float(average_neuron_correlation(a_ND, b_NE)) if has_one_width else None,
        raw=retrieval(a_ND[lines.tests], b_NE[lines.tests]) if has_one_width else None,
        centred=retrieval(*centred) if has_one_width else None,
        aligned=retrieval(
            found.compared(wide_a_ND[lines.tests], new_vectors=new_vectors),
            found.mapped(wide_b_ND[lines.tests], new_vectors=new_vectors),
        ),
    )


def _of_one_width(a_ND: Tensor, b_NE: Tensor) -> Iterator[Tensor]:
    """The narrower side with columns of zeros after its own, which change no angle and no distance."""
    width = max(a_ND.shape[1], b_NE.shape[1])
    for side in (a_ND, b_NE):
        yield pad(side, (0, width - side.shape[1]))
