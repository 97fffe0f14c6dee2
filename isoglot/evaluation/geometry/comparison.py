"""How alike two models are on lines that say the same, layer by layer."""

# S = layers 0 to last, N = lines, D = width, E = width of the other model, F = width of either

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.evaluation.geometry.cka import SIMILARITIES, average_neuron_correlation
from isoglot.evaluation.geometry.hidden_states import sentence_and_type_vectors
from isoglot.evaluation.geometry.parallel_lines import HeldOutLines, LengthFloor, length_floor
from isoglot.evaluation.geometry.reader import Reader
from isoglot.evaluation.geometry.retrieval import ENDS, both_directions
from isoglot.evaluation.geometry.vectors import FewPairsWarning, VectorMap
from isoglot.study.searches import NewVectors

FEW_LINES = 10
"""For each number of a vector; over 1,000 lines of width 768, what has a debiased CKA of 0.00 has an SVCCA of 0.5."""

FLOOR_SEED = 0
"""The seed of the random weights that scores are held against."""
LineProgress = Callable[[str, int], None]
"""Called with the name of the side in work, and how many lines it has read."""


Scores = Mapping[str, float]
"""By metric, called as in a study's figures: `aligned` is after a map, `uncentred` of raw vectors."""


def _layer_scores(
    a_ND: Tensor, b_NE: Tensor, *, lines: HeldOutLines, rounds: int, new_vectors: NewVectors
) -> dict[str, float]:
    """Similarity over all lines, retrieval among the tests; what needs one width is left out where they differ."""
    scores = {metric: float(measure(a_ND, b_NE)) for metric, measure in SIMILARITIES.items()}
    widths = a_ND.shape[1], b_NE.shape[1]
    if widths[0] == widths[1]:
        # Test lines lend nothing to the mean that they are centred with.
        centred_a_ND, centred_b_ND = (side[lines.tests] - side[lines.fitted].mean(0) for side in (a_ND, b_NE))
        scores["neuron_correlation"] = float(average_neuron_correlation(a_ND, b_NE))
        scores["retrieval_p1"] = both_directions(centred_a_ND, centred_b_ND, lines.pairs)[0]
        scores["retrieval_p1_uncentred"] = both_directions(a_ND[lines.tests], b_NE[lines.tests], lines.pairs)[0]
    # Columns of zeros after the narrower side's own change no angle and no distance.
    wide_a_ND, wide_b_ND = (pad(side, (0, max(widths) - side.shape[1])) for side in (a_ND, b_NE))
    vector_map = VectorMap.fit(wide_b_ND[lines.fitted], wide_a_ND[lines.fitted], rounds=rounds)
    aligned = both_directions(
        vector_map.compared(wide_a_ND[lines.tests], new_vectors=new_vectors),
        vector_map.mapped(wide_b_ND[lines.tests], new_vectors=new_vectors),
        lines.pairs,
    )
    return scores | {f"aligned_retrieval_p1{end}": each for end, each in zip(ENDS, aligned, strict=True)}


@dataclass(frozen=True, kw_only=True)
class Side:
    """Lines as one model reads them, with its own weights and with random ones."""

    reader: Reader
    floor: Reader
    lines: Sequence[str]
    texts: Sequence[int]
    """The text that each line is of, by number."""
    name: str
    """In notes."""
    vector_SND: Tensor
    floor_SND: Tensor
    type_SRD: Tensor
    """The mean state of the occurrences of each type that was asked for."""
    floor_type_SRD: Tensor
    num_cut: int
    """Lines that are longer than the model can read."""
    tokens_a_word: float
    """Words are what stands between white space."""


def read_side(
    reader: Reader,
    floor: Reader,
    lines: Sequence[str],
    *,
    texts: Sequence[int],
    sentences: Sequence[EncodedSentence],
    types: Mapping[str, int],
    has_words: Sequence[bool],
    name: str,
    progress: LineProgress = lambda _name, _done: None,
) -> Side:
    """The side of the lines, which the reader has made whole sentences of; each model reads them once.

    The types are taken from the sentences that have words.
    """
    (vector_SND, type_SRD), (floor_SND, floor_type_SRD) = (
        sentence_and_type_vectors(each, sentences, types=types, has_words=has_words, progress=partial(progress, called))
        for each, called in ((reader, name), (floor, f"{name}, random weights"))
    )
    num_tokens = sum(place != NO_WORD for sentence in sentences for place in sentence.word_of)
    return Side(
        reader=reader,
        floor=floor,
        lines=lines,
        texts=texts,
        name=name,
        vector_SND=vector_SND,
        floor_SND=floor_SND,
        type_SRD=type_SRD,
        floor_type_SRD=floor_type_SRD,
        num_cut=sum(not reader.fits(each) for each in sentences),
        tokens_a_word=num_tokens / max(sum(len(line.split()) for line in lines), 1),
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All layers, and the facts that their numbers rest on."""

    layers: tuple[Scores, ...]
    target_untrained: tuple[Scores, ...]
    """The floor of Figures 6 and 7: b has the weights of a model before training, and a is as it is."""
    both_untrained: tuple[Scores, ...]
    by_length: LengthFloor
    num_fitted: int
    """Lines that each map was fitted on; similarity is measured on all lines."""
    num_tests: int
    notes: tuple[str, ...]


def compared(a: Side, b: Side, *, rounds: int = 5, new_vectors: NewVectors) -> Comparison:
    """Line i of one side says what line i of the other says."""
    lines = HeldOutLines.of(a.lines, b.lines, texts=a.texts)
    device = a.reader.device if a.reader.device.type == "cuda" else torch.device("cpu")
    paired = paired_layers(len(a.vector_SND), len(b.vector_SND))

    def layers(of_a_SND: Tensor, of_b_SNE: Tensor) -> tuple[Scores, ...]:
        score = partial(_layer_scores, lines=lines, rounds=rounds, new_vectors=new_vectors)
        return tuple(score(of_a_SND[i].to(device), of_b_SNE[j].to(device)) for i, j in paired)

    with warnings.catch_warnings():
        # One note says it for all layers.
        warnings.simplefilter("ignore", FewPairsWarning)
        found = layers(a.vector_SND, b.vector_SND)
        target_untrained, both_untrained = layers(a.vector_SND, b.floor_SND), layers(a.floor_SND, b.floor_SND)
    many = "many if a text is not of the model's language"
    tokens = f"Tokens a word: {a.name} {a.tokens_a_word:.1f}, {b.name} {b.tokens_a_word:.1f}; {many}."
    return Comparison(
        layers=found,
        target_untrained=target_untrained,
        both_untrained=both_untrained,
        by_length=length_floor(a.lines, b.lines, lines=lines),
        num_fitted=len(lines.fitted),
        num_tests=len(lines.tests),
        notes=(*_notes(a, b, num_fitted=len(lines.fitted)), tokens),
    )


def untrained_readers(reader_a: Reader, reader_b: Reader) -> tuple[Reader, Reader]:
    """The readers with random weights: the same for both where one model reads both sides, else drawn apart."""
    weights_a, weights_b = (reader.network.state_dict() for reader in (reader_a, reader_b))
    is_one_model = weights_a.keys() == weights_b.keys() and all(
        torch.equal(weights_a[name], weights_b[name]) for name in weights_a
    )
    floor_a = reader_a.untrained(seed=FLOOR_SEED)
    if reader_a is reader_b:
        return floor_a, floor_a
    # Two models of one shape would otherwise start from one and the same network, which no two trained apart do.
    return floor_a, reader_b.untrained(seed=FLOOR_SEED if is_one_model else FLOOR_SEED + 1)


def paired_layers(num_states_a: int, num_states_b: int) -> list[tuple[int, int]]:
    """Each layer of the shallower model with that of equal relative height in the other: 0 with 0, last with last."""
    shallow, deep = sorted((num_states_a, num_states_b))
    top = max(shallow - 1, 1)
    # The whole number nearest to layer * (deep - 1) / top, the higher of two.
    partners = [(layer, (2 * layer * (deep - 1) + top) // (2 * top)) for layer in range(shallow)]
    return partners if num_states_a <= num_states_b else [(high, low) for low, high in partners]


def _notes(a: Side, b: Side, *, num_fitted: int) -> Iterator[str]:
    (states_a, num_lines, width_a), (states_b, _, width_b) = a.vector_SND.shape, b.vector_SND.shape
    width = max(width_a, width_b)
    if states_a != states_b:
        depths = f"The model of {a.name} has {states_a - 1} layers and that of {b.name} {states_b - 1}"
        paired = ", ".join(f"{i} with {j}" for i, j in paired_layers(states_a, states_b))
        yield f"{depths}: those of equal relative height are compared ({paired})."
    if width_a != width_b:
        lacking = "retrieval without a map and ANC need equal widths and are left out"
        widths = f"Vectors of {a.name} have {width_a} numbers and of {b.name} {width_b}"
        yield f"{widths}: for the map, zeros follow the narrower ones; {lacking}."
    if num_lines < FEW_LINES * width:
        biased = "SVCCA, and less so CKA, come out too high, whatever the models are; debiased CKA does not"
        yield f"With {num_lines:,} lines for vectors of {width} numbers, {biased}."
    for side in (a, b):
        if num_empty := int(side.vector_SND.eq(0).all(2).all(0).sum()):
            yield f"In {num_empty:,} lines of {side.name} the model finds nothing to read; their vectors are zero."
    if num_fitted < width:
        yield (
            f"The map is fitted on {num_fitted} pairs for {width} dimensions: where no pair points it is arbitrary, "
            "and so is what it does with new vectors; give more lines."
        )
