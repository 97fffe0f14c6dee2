"""Which words translate which: fast_align (Dyer, Chahuneau and Smith, 2013) or a program of the user's own."""

# B = sentence pairs of one size, N = their target words, M = their source words, K = M and the null word before them,
# P = different pairs of words that occur together, S = different source words and null, W = all target words

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from isoglot.corpora.user_commands import UserCommand
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.alignment_model import (
    Block,
    Floats,
    Ids,
    NumberedWords,
    SentenceBlocks,
    better_tension,
    diagonal_probabilities,
    distances,
)

SentencePair = tuple[Sequence[str], Sequence[str]]
Link = tuple[int, int]
"""The place of a word in the source sentence and of one in the target, both from 0."""

PHARAOH_LINE = re.compile(r"\s*(?:\d+-\d+(?:\s+|$))*", flags=re.ASCII)
BETWEEN_SENTENCES = "|||"
NEIGHBOURS = tuple(step for step in product((-1, 0, 1), repeat=2) if step != (0, 0))

# The program's own defaults with -d -o -v: the prior of a target word without a partner; how strongly the diagonal
# draws partners, before that is optimised; the prior of variational Bayes on every source word's translations.
NULL_PROBABILITY = 0.08
FIRST_TENSION = 4.0
DIRICHLET = 0.01
ITERATIONS = 5
"""The last one only looks for the best partners."""


def pharaoh_line(links: Iterable[Link]) -> str:
    return " ".join(f"{source}-{target}" for source, target in links)


def pharaoh_links(line: str) -> list[Link]:
    """The links of a line such as "0-0 1-2"; ValueError where it is none."""
    if not PHARAOH_LINE.fullmatch(line):
        raise ValueError(f'{line!r} is no line such as "0-0 1-2"')
    return [(int(source), int(target)) for source, _, target in (link.partition("-") for link in line.split())]


def grow_diag_final_and(forward: Collection[Link], backward: Collection[Link]) -> list[Link]:
    """Between the intersection and the union, in order; either argument has links from source to target."""
    # Moses and fast_align's atools walk through the candidates in different orders, and where two of them compete for
    # a word they may differ. This is the order of atools: by source word, then by target word.
    links = set(forward) & set(backward)
    sources, targets = {source for source, _ in links}, {target for _, target in links}

    def add(link: Link) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    # Grow: links beside others, straight or diagonally, if one of their words has none yet.
    candidates, has_grown = sorted(set(forward) ^ set(backward)), True
    while has_grown:
        has_grown = False
        for source, target in candidates:
            is_free = source not in sources or target not in targets
            if is_free and any((source + down, target + right) in links for down, right in NEIGHBOURS):
                add((source, target))
                has_grown = True
    # Final-and: links of which both words have none, wherever they stand.
    for direction in (forward, backward):
        for source, target in sorted(direction):
            if source not in sources and target not in targets:
                add((source, target))
    return sorted(links)


class FittedDirection(NamedTuple):
    tension: float
    probability_P: Floats
    """The probability of a target word given its source word, in the order of the sentence blocks' pairs."""
    best_source_W: Ids
    """The place of each target word's partner in its sentence; -1: it has none."""


def aligned(pairs: Sequence[SentencePair]) -> list[list[Link]]:
    """The links of each sentence pair, in order; none where a side has no words. The same pairs give the same links."""
    sources, targets = (NumberedWords([pair[side] for pair in pairs]) for side in (0, 1))
    return [
        grow_diag_final_and(there, [(source, target) for target, source in back])
        for there, back in zip(directed_links(sources, targets), directed_links(targets, sources), strict=True)
    ]


def directed_links(sources: NumberedWords, targets: NumberedWords) -> list[list[Link]]:
    """At most one link for each target word."""
    best = fitted(sources, targets).best_source_W.tolist()
    return [
        [(source, target) for target, source in enumerate(best[start : start + length]) if source >= 0]
        for start, length in zip(targets.start_L.tolist(), targets.length_L.tolist(), strict=True)
    ]


def fitted(sources: NumberedWords, targets: NumberedWords, *, iterations: int = ITERATIONS) -> FittedDirection:
    """Expectation and maximisation in turn, from equal probabilities."""
    sentences = SentenceBlocks(sources, targets)
    tension, probability_P = FIRST_TENSION, np.ones(len(sentences.source_P))
    for iteration in range(iterations - 1):
        count_P, distance = _expectations(sentences, probability_P, tension=tension)
        if iteration > 0:
            tension = better_tension(tension, sentences=sentences, distance=distance)
        probability_P = _probabilities(count_P, source_P=sentences.source_P)
    best_source_W = np.full(len(targets.word_W), -1)
    for block in sentences.blocks:
        # Among equals argmax takes the first: null, then from left to right.
        best_BN = _likelihoods(block, probability_P, tension=tension).argmax(-1)
        best_source_W[targets.places(block.line_B)] = best_BN - 1
    return FittedDirection(tension=tension, probability_P=probability_P, best_source_W=best_source_W)


def _expectations(sentences: SentenceBlocks, probability_P: Floats, *, tension: float) -> tuple[Floats, float]:
    """count_P: how often each pair of words is linked; and how far all words are from their partners together."""
    count_P, distance = np.zeros(len(probability_P)), 0.0
    for block in sentences.blocks:
        posterior_BNK = _likelihoods(block, probability_P, tension=tension)
        posterior_BNK /= posterior_BNK.sum(-1, keepdims=True)
        np.add.at(count_P, block.pair_BNK.ravel(), posterior_BNK.ravel())
        # Departure: observed distances count target places from 0, as the program does and its paper does not.
        distance_NM = distances(*block.size, first_target=0)
        distance += float((posterior_BNK[..., 1:].sum(0) * distance_NM).sum())
    return count_P, distance


def _likelihoods(block: Block, probability_P: Floats, *, tension: float) -> Floats:
    """likelihood_BNK: of each target word together with each of its possible partners."""
    prior_NK = np.full(block.pair_BNK.shape[1:], NULL_PROBABILITY)
    prior_NK[:, 1:] = (1 - NULL_PROBABILITY) * diagonal_probabilities(*block.size, tension=tension)
    likelihood_BNK: Floats = probability_P[block.pair_BNK]
    likelihood_BNK *= prior_NK
    return likelihood_BNK


def _probabilities(count_P: Floats, *, source_P: Ids) -> Floats:
    """probability_P of a target word given its source word; by variational Bayes they add up to less than one."""
    # Imported here, as descriptions of stages read links without torch.
    import torch

    total_S = np.bincount(source_P, weights=count_P + DIRICHLET).astype(np.float64)
    digamma_P, digamma_S = (torch.digamma(torch.from_numpy(each)).numpy() for each in (count_P + DIRICHLET, total_S))
    expected_P: Floats = np.exp(digamma_P - digamma_S[source_P])
    return expected_P


def externally_aligned(pairs: Sequence[SentencePair], *, command: Sequence[str]) -> list[list[Link]]:
    """The links that the user's command finds, in order; a pair with a side without words has none and is not sent.

    The command reads all pairs from its standard input, a line "a b ||| c d" each, in UTF-8, and writes as many lines
    "0-0 1-2", source words first. It symmetrises its links itself.
    """
    sent = [pair for pair in pairs if pair[0] and pair[1]]
    if not sent:
        return [[] for _ in pairs]
    aligner = _aligner(command)
    lines = aligner.answers([f"{_shown(source)} {BETWEEN_SENTENCES} {_shown(target)}" for source, target in sent])
    links = (
        _checked_links(line, pair, at=f"{aligner.name}, line {number} of its output")
        for number, (line, pair) in enumerate(zip(lines, sent, strict=True), start=1)
    )
    return [next(links) if pair[0] and pair[1] else [] for pair in pairs]


def aligner_version(command: Sequence[str]) -> str:
    return _aligner(command).version()


def _checked_links(line: str, pair: SentencePair, *, at: str) -> list[Link]:
    try:
        links = pharaoh_links(line)
    except ValueError as error:
        raise IsoglotError(f"{at}: {error}; write links of source and target words, counted from 0") from error
    for source, target in links:
        if source >= len(pair[0]) or target >= len(pair[1]):
            sizes = f"the sentences have {len(pair[0])} and {len(pair[1])} words"
            problem = f"{at}: link {source}-{target} is out of range, as {sizes}"
            raise IsoglotError(f"{problem}; count words from 0, source words first")
    return sorted(set(links))


def _shown(words: Sequence[str]) -> str:
    # The program must count as many words: none may be two to it, or the mark between sentences.
    return " ".join("_".join(word.split()) or "_" if word != BETWEEN_SENTENCES else "|" for word in words)


def _aligner(command: Sequence[str]) -> UserCommand:
    return UserCommand(
        words=tuple(command), name=f"the aligner {command[0]!r}", task="each sentence pair must give one line of links"
    )
