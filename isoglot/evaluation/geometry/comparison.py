"""How alike two models are on lines that say the same, layer by layer."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from isoglot.corpora.sentences import NO_WORD
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.cka import average_neuron_correlation, debiased_cka, linear_cka, svcca
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.evaluation.geometry.parallel_lines import HeldOutLines
from isoglot.evaluation.geometry.reader import Reader
from isoglot.evaluation.geometry.retrieval import Measure, both_directions
from isoglot.evaluation.geometry.vector_maps import VectorMap
from isoglot.evaluation.geometry.vectors import FewPairsWarning
from isoglot.study.searches import NewVectors

# N = lines, D = width, E = width of the other model


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


# S = layers 0 to last, N = lines, D = width, E = width of the other model, F = width of either


LINES_AT_ONCE = 1024
FEW_LINES = 10
"""For each number of a vector; over 1,000 lines of width 768, what has a debiased CKA of 0.00 has an SVCCA of 0.5."""

Told = Callable[[str, int], None]
"""Which model is in work, and how many lines it has read."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All layers, and what the numbers rest on."""

    layers: tuple[LayerComparison, ...]
    num_lines: int
    num_fitted: int
    """Lines that each map was fitted on; similarity is measured on all lines."""
    num_tests: int
    chance: float
    """Of retrieval, in percent."""
    num_cut: tuple[int, int]
    """Lines of each side that are longer than its model can read."""
    tokens_per_word: tuple[float, float]
    """Of each side: many, where a text is not of the model's language."""
    most_tokens: tuple[int, int]
    """That each model can read at once."""
    num_states: tuple[int, int]
    widths: tuple[int, int]
    notes: tuple[str, ...]
    """What a reader of the numbers should know."""


def compared(
    reader_a: Reader,
    reader_b: Reader,
    lines_a: Sequence[str],
    lines_b: Sequence[str],
    *,
    rounds: int = 5,
    new_vectors: NewVectors,
    test_share: float = 0.2,
    told: Told | None = None,
) -> Comparison:
    """Line i of one side says what line i of the other says; every fifth line is a test, or as `test_share` has it."""
    if len(lines_a) != len(lines_b):
        raise IsoglotError(f"{len(lines_a)} lines cannot be compared with {len(lines_b)}; give as many of both")
    lines = HeldOutLines.of(lines_a, lines_b, test_share=test_share)
    vector_SND, num_cut_a, tokens_a = _read(reader_a, lines_a, name="A", told=told)
    vector_SNE, num_cut_b, tokens_b = _read(reader_b, lines_b, name="B", told=told)
    device = reader_a.device if reader_a.device.type == "cuda" else torch.device("cpu")
    notes = _notes(vector_SND, vector_SNE)
    with _few_pairs_noted(notes):
        layers = tuple(
            layer_comparison(
                vector_SND[layer_a].to(device),
                vector_SNE[layer_b].to(device),
                layers=(layer_a, layer_b),
                lines=lines,
                rounds=rounds,
                new_vectors=new_vectors,
            )
            for layer_a, layer_b in paired_layers(reader_a.num_states, reader_b.num_states)
        )
    return Comparison(
        layers=layers,
        num_lines=len(lines_a),
        num_fitted=len(lines.fitted),
        num_tests=len(lines.tests),
        chance=100 / len(lines.tests),
        num_cut=(num_cut_a, num_cut_b),
        tokens_per_word=(tokens_a, tokens_b),
        most_tokens=(reader_a.most_tokens, reader_b.most_tokens),
        num_states=(reader_a.num_states, reader_b.num_states),
        widths=(reader_a.width, reader_b.width),
        notes=tuple(dict.fromkeys(notes)),
    )


def paired_layers(num_states_a: int, num_states_b: int) -> list[tuple[int, int]]:
    """Each layer of the shallower model with that of equal relative height in the other: 0 with 0, last with last."""
    shallow, deep = sorted((num_states_a, num_states_b))
    top = max(shallow - 1, 1)
    # The whole number nearest to layer * (deep - 1) / top, the higher of two.
    partners = [(layer, (2 * layer * (deep - 1) + top) // (2 * top)) for layer in range(shallow)]
    return partners if num_states_a <= num_states_b else [(high, low) for low, high in partners]


def _read(reader: Reader, lines: Sequence[str], *, name: str, told: Told | None) -> tuple[Tensor, int, float]:
    """Sentence vectors of every layer, how many lines were cut, and tokens for each word between white space."""
    parts, num_cut, num_tokens = [], 0, 0
    for start in range(0, len(lines), LINES_AT_ONCE):
        whole = reader.whole_sentences(lines[start : start + LINES_AT_ONCE])
        sentences, num_longer = reader.cut(whole)
        num_cut += num_longer
        num_tokens += sum(place != NO_WORD for sentence in whole for place in sentence.word_of)
        parts.append(sentence_vectors(reader, sentences))
        if told is not None:
            told(name, min(start + LINES_AT_ONCE, len(lines)))
    return torch.cat(parts, dim=1), num_cut, num_tokens / max(sum(len(line.split()) for line in lines), 1)


def _notes(vector_SND: Tensor, vector_SNE: Tensor) -> list[str]:
    notes = []
    num_states, num_lines, width_a = vector_SND.shape
    width_b = vector_SNE.shape[2]
    if num_states != len(vector_SNE):
        notes.append(
            f"A has {num_states - 1} layers and B {len(vector_SNE) - 1}: those of equal relative height are compared."
        )
    if width_a != width_b:
        notes.append(
            f"A's vectors have {width_a} numbers and B's {width_b}: for the map, zeros follow the narrower ones; "
            "retrieval without a map and ANC need equal widths and are left out."
        )
    if num_lines < FEW_LINES * max(width_a, width_b):
        notes.append(
            f"With {num_lines:,} lines for vectors of {max(width_a, width_b)} numbers, SVCCA, and less so CKA, come "
            "out too high, whatever the models are; debiased CKA does not."
        )
    for name, vector_SNF in (("A", vector_SND), ("B", vector_SNE)):
        num_empty = int(vector_SNF.eq(0).all(2).all(0).sum())
        if num_empty:
            notes.append(f"In {num_empty:,} lines {name} finds nothing to read; their vectors are zero.")
    return notes


@contextmanager
def _few_pairs_noted(notes: list[str]) -> Iterator[None]:
    """Warnings of too few pairs become notes; others are warnings still."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FewPairsWarning)
        yield
    for each in caught:
        if issubclass(each.category, FewPairsWarning):
            notes.append(f"Of the map: {each.message}.")
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
