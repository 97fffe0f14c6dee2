"""fast_align's model of which words translate which (Dyer, Chahuneau and Smith, 2013), fitted in both directions."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.alignment_model import (
    Block,
    Floats,
    Ids,
    NumberedWords,
    PlacesBySize,
    SentenceBlocks,
    diagonal_probabilities,
    distances,
)

SentencePair = tuple[Sequence[str], Sequence[str]]
"""The words of a sentence and those of its translation."""

Link = tuple[int, int]
"""The place of a word in the source sentence and of one in the target, both from 0."""

PHARAOH_LINE = re.compile(r"\s*(?:\d+-\d+(?:\s+|$))*", flags=re.ASCII)


def pharaoh_line(links: Iterable[Link]) -> str:
    """pharaoh_line([(0, 0), (1, 2)]) is "0-0 1-2"."""
    return " ".join(f"{source}-{target}" for source, target in links)


def pharaoh_links(line: str) -> list[Link]:
    """The links of a Pharaoh line; ValueError where it is none."""
    if not PHARAOH_LINE.fullmatch(line):
        raise ValueError(f'{line!r} is no line such as "0-0 1-2"')
    return [(int(source), int(target)) for source, _, target in (link.partition("-") for link in line.split())]


NEIGHBOURS = tuple(step for step in product((-1, 0, 1), repeat=2) if step != (0, 0))


def grow_diag_final_and(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Between the intersection and the union, in order; either argument has links from source to target.

    Moses and fast_align's atools walk through the candidates in different orders, and where two of them compete for a
    word they may differ. This is the order of atools: by source word, then by target word.
    """
    grown = _Alignment(links=set(forward) & set(backward))
    waiting = sorted(set(forward) ^ set(backward))
    while added := [link for link in waiting if grown.takes_neighbour(link)]:
        waiting = [link for link in waiting if link not in set(added)]
    for direction in (forward, backward):
        for link in sorted(direction):
            grown.takes_if_both_are_free(link)
    return sorted(grown.links)


class _Alignment:
    """Links so far, and the words that have one."""

    def __init__(self, links: Iterable[Link]) -> None:
        self.links = set(links)
        self.sources = {source for source, _ in self.links}
        self.targets = {target for _, target in self.links}

    def takes_neighbour(self, link: Link) -> bool:
        """Adds a link next to another one, straight or diagonally, if one of its words has none yet."""
        source, target = link
        is_wanted = source not in self.sources or target not in self.targets
        is_next = any((source + down, target + right) in self.links for down, right in NEIGHBOURS)
        if is_wanted and is_next:
            self._add(link)
        return is_wanted and is_next

    def takes_if_both_are_free(self, link: Link) -> None:
        if link[0] not in self.sources and link[1] not in self.targets:
            self._add(link)

    def _add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])


# B = sentence pairs of one size, N = their target words, M = their source words, K = M and the null word before them,
# P = different pairs of words that occur together, S = different source words and null, W = all target words


@dataclass(frozen=True, kw_only=True)
class FastAlign:
    """Settings of one direction: by default those of the program with -d -o -v."""

    null_probability: float = 0.08
    """Of a target word without a partner."""
    tension: float = 4.0
    """How strongly the diagonal draws partners: at first, or always."""
    tension_is_optimised: bool = True
    dirichlet: float | None = 0.01
    """Variational Bayes with this symmetric prior on every source word's translations; None: maximum likelihood."""
    iterations: int = 5
    """The last one only looks for the best partners."""

    def __post_init__(self) -> None:
        for name, is_right, what in (
            ("null_probability", 0 < self.null_probability < 1, "a share between 0 and 1"),
            ("tension", self.tension > 0, "above 0; 1e-6 has as good as no diagonal"),
            ("dirichlet", self.dirichlet is None or self.dirichlet > 0, "above 0, or None"),
            ("iterations", self.iterations >= 1, "at least 1"),
        ):
            if not is_right:
                raise IsoglotError(f"word alignment: {name} is {getattr(self, name)}; it must be {what}")


@dataclass(frozen=True, kw_only=True)
class FittedDirection:
    """What was learned of one direction, and the best partner of every target word."""

    tension: float
    probability_P: Floats
    """Of a target word given its source word, in the order of the sentence blocks' pairs."""
    best_source_W: Ids
    """The place of each target word's partner in its sentence; -1: it has none."""


def aligned(pairs: Sequence[SentencePair], *, settings: FastAlign | None = None) -> list[list[Link]]:
    """The links of each sentence pair, in order; none where a side has no words. The same pairs give the same links."""
    settings = settings or FastAlign()
    sources, targets = (NumberedWords.of([pair[side] for pair in pairs]) for side in (0, 1))
    forward = directed_links(sources, targets, settings=settings)
    backward = directed_links(targets, sources, settings=settings)
    return [
        grow_diag_final_and(there, [(source, target) for target, source in back])
        for there, back in zip(forward, backward, strict=True)
    ]


def directed_links(sources: NumberedWords, targets: NumberedWords, *, settings: FastAlign) -> list[list[Link]]:
    """At most one link for each target word."""
    best = fitted(sources, targets, settings=settings).best_source_W.tolist()
    return [
        [(source, target) for target, source in enumerate(best[start : start + length]) if source >= 0]
        for start, length in zip(targets.start_L.tolist(), targets.length_L.tolist(), strict=True)
    ]


def fitted(sources: NumberedWords, targets: NumberedWords, *, settings: FastAlign) -> FittedDirection:
    """Expectation and maximisation in turn, from equal probabilities."""
    sentences = SentenceBlocks.of(sources, targets)
    places = PlacesBySize.of(sentences)
    tension, probability_P = settings.tension, np.ones(len(sentences.source_P))
    for iteration in range(settings.iterations - 1):
        count_P, distance = _expectations(sentences, probability_P, tension=tension, settings=settings)
        if settings.tension_is_optimised and iteration > 0:
            tension = places.better_tension(tension, distance=distance)
        probability_P = _probabilities(count_P, source_P=sentences.source_P, dirichlet=settings.dirichlet)
    best_source_W = np.full(len(targets.word_W), -1)
    for block in sentences.blocks:
        likelihood_BNK = _likelihoods(block, probability_P, tension=tension, settings=settings)
        # Of equals the first: null, then from left to right.
        best_source_W[targets.places(block.line_B)] = likelihood_BNK.argmax(-1) - 1
    return FittedDirection(tension=tension, probability_P=probability_P, best_source_W=best_source_W)


def _expectations(
    sentences: SentenceBlocks, probability_P: Floats, *, tension: float, settings: FastAlign
) -> tuple[Floats, float]:
    """count_P: how often each pair of words is linked; and how far all words are from their partners together."""
    count_P, distance = np.zeros(len(probability_P)), 0.0
    for block in sentences.blocks:
        posterior_BNK = _likelihoods(block, probability_P, tension=tension, settings=settings)
        posterior_BNK /= posterior_BNK.sum(-1, keepdims=True)
        np.add.at(count_P, block.pair_BNK.ravel(), posterior_BNK.ravel())
        # Departure: observed distances count target places from 0, as the program does and its paper does not.
        distance_NM = distances(*block.size, first_target=0)
        distance += float((posterior_BNK[..., 1:].sum(0) * distance_NM).sum())
    return count_P, distance


def _likelihoods(block: Block, probability_P: Floats, *, tension: float, settings: FastAlign) -> Floats:
    """likelihood_BNK: of each target word together with each of its possible partners."""
    prior_NK = np.full(block.pair_BNK.shape[1:], settings.null_probability)
    prior_NK[:, 1:] = (1 - settings.null_probability) * diagonal_probabilities(*block.size, tension=tension)
    likelihood_BNK: Floats = probability_P[block.pair_BNK]
    likelihood_BNK *= prior_NK
    return likelihood_BNK


def _probabilities(count_P: Floats, *, source_P: Ids, dirichlet: float | None) -> Floats:
    """probability_P of a target word given its source word; with variational Bayes they add up to less than one."""
    if dirichlet is None:
        # After very many iterations all counts of a word may be too small for a float.
        total_S = np.maximum(np.bincount(source_P, weights=count_P), np.finfo(np.float64).tiny)
        return count_P / total_S[source_P]
    total_S = np.bincount(source_P, weights=count_P + dirichlet).astype(np.float64)
    expected_P: Floats = np.exp(_digamma(count_P + dirichlet) - _digamma(total_S)[source_P])
    return expected_P


def _digamma(value: Floats) -> Floats:
    result: Floats = torch.digamma(torch.from_numpy(value)).numpy()
    return result
