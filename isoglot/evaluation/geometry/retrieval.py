"""Nearest-neighbour retrieval across languages, by cosine or CSLS, and its precision.

A vector of zeros points nowhere: its similarity with everything is 0, it stands among the answers like any other, and
as a query it counts as wrong.
"""

# N = queries, sentences or words of one side, T = answers, those of the other, D = width, K = answers of each query;
# R x C = a block of N x T, M x G = its columns in groups, E = columns that may still be among the K

import math
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import Vectors, matrix_of

NEIGHBOURS = 10
AT = (1, 5, 10)
GROUP = 64
Block = tuple[int, int]
"""The most rows and columns of the matrix of similarities that are held at a time."""
BLOCKS: dict[str, Block] = {"cpu": (1024, 32_768), "cuda": (4096, 65_536)}
ENDS = ("", "_to_target", "_to_source")
"""Suffixes of the names of metrics, in the order of `both_directions`."""


class Measure(StrEnum):
    COSINE = "cosine"
    CSLS = "csls"
    """Cosine, less how crowded the neighbourhoods are (Conneau et al., 2017)."""


def csls_scores(source: Vectors, target: Vectors, neighbours: int = NEIGHBOURS) -> Tensor:
    """2 cos(x, y) less the mean cosine of x, and that of y, with the nearest `neighbours` of its other side, [N, T].

    Where a side has fewer vectors, all of them are neighbours. `nearest` ranks by the same without holding all of it.
    """
    source_ND, target_TD = _unit_vectors(source, target)
    cosine_NT = source_ND @ target_TD.T
    crowding_N1 = cosine_NT.topk(min(neighbours, len(target_TD)), dim=1).values.mean(1, keepdim=True)
    crowding_1T = cosine_NT.topk(min(neighbours, len(source_ND)), dim=0).values.mean(0, keepdim=True)
    return 2 * cosine_NT - crowding_N1 - crowding_1T


@torch.no_grad()
def nearest(
    source_ND: Vectors,
    target_TD: Vectors,
    *,
    count: int,
    measure: Measure,
    neighbours: int = NEIGHBOURS,
    rows: Sequence[int] | None = None,
) -> Tensor:
    """Columns of the `count` best targets of each source, or of the given rows, best first: [N, K].

    Among equally good ones the first comes first. Where there are fewer than `count` targets all are given, and where a
    side has fewer than `neighbours` vectors all are neighbours. Memory does not grow with N times T.
    """
    source_ND, target_TD = _unit_vectors(source_ND, target_TD)
    asking_ND = source_ND
    if rows is not None:
        asking_ND = source_ND[torch.tensor(rows, dtype=torch.int64)]
    less_T = None
    if measure == Measure.CSLS:
        # The crowding of a source takes the same from all its answers: half of the rest ranks as CSLS does.
        less_T = nearest_units(target_TD, source_ND, count=min(neighbours, len(source_ND)))[0].mean(1) / 2
    return nearest_units(asking_ND, target_TD, count=min(count, len(target_TD)), less_T=less_T)[1]


def precision(
    source_ND: Vectors,
    target_TD: Vectors,
    gold: Mapping[int, Collection[int]],
    *,
    measure: Measure,
    at: Sequence[int] = AT,
) -> dict[int, float]:
    """Percent of the source rows in `gold` that have any of their gold columns among the first k answers, by k."""
    if not gold or not all(gold.values()):
        fix = "give more test_lines or parallel_sentences, or a dictionary of more of these words"
        raise IsoglotError(f"retrieval: there are no translations to look for; {fix}")
    rows = list(gold)
    source_ND = _vectors(source_ND, side="source")
    answers = nearest(source_ND, target_TD, count=max(at), measure=measure, rows=rows).tolist()
    points_somewhere = source_ND[torch.tensor(rows)].any(1).tolist()
    right_at = [
        next((place for place, column in enumerate(answer, start=1) if column in gold[row]), math.inf)
        for row, answer, points in zip(rows, answers, points_somewhere, strict=True)
        if points
    ]
    return {k: 100.0 * sum(place <= k for place in right_at) / len(rows) for k in at}


def both_directions(
    source_ND: Vectors, target_ND: Vectors, pairs: Sequence[tuple[int, int]] | None = None
) -> tuple[float, float, float]:
    """Precision at 1 by cosine in percent: the mean, from source to target, and back; row i to row i without pairs."""
    if pairs is None:
        if len(source_ND) != len(target_ND):
            both = (
                f"{len(source_ND)} source vectors cannot be translations of {len(target_ND)} target vectors row by row"
            )
            fix = "give both sides the same sentences, or the pairs of rows that translate each other"
            raise IsoglotError(f"retrieval: {both}; {fix}")
        pairs = [(row, row) for row in range(len(source_ND))]
    forward: dict[int, set[int]] = {}
    backward: dict[int, set[int]] = {}
    for row, column in pairs:
        forward.setdefault(row, set()).add(column)
        backward.setdefault(column, set()).add(row)
    to_target = precision(source_ND, target_ND, forward, measure=Measure.COSINE, at=(1,))[1]
    to_source = precision(target_ND, source_ND, backward, measure=Measure.COSINE, at=(1,))[1]
    # Departure: both directions count; the paper does not say which one it takes.
    return (to_target + to_source) / 2, to_target, to_source


def centred_precision(source_ND: Tensor, target_ND: Tensor, pairs: Sequence[tuple[int, int]] | None = None) -> float:
    """The mean of both directions for vectors less their side's mean, which holds what merely says 'this is French'."""
    # Departure: each language's mean is taken away first; the scores without that stand beside these.
    return both_directions(source_ND - source_ND.mean(0), target_ND - target_ND.mean(0), pairs)[0]


def nearest_units(
    asking_ND: Tensor, answer_TD: Tensor, *, count: int, less_T: Tensor | None = None, block: Block | None = None
) -> tuple[Tensor, Tensor]:
    """The `count` largest dot products of each vector, less `less_T` of the answers, and their columns, both [N, K].

    They fall from left to right; among equal ones the first column comes first.
    """
    rows, columns = block or BLOCKS.get(asking_ND.device.type, BLOCKS["cpu"])
    found = []
    for asking_RD in _parts(asking_ND, most=rows):
        best_RK, place_RK = asking_RD[:, :0], torch.zeros_like(asking_RD[:, :0], dtype=torch.int64)
        start = 0
        for answer_CD in _parts(answer_TD, most=columns):
            width = len(answer_CD)
            # Full float32, unless the user set torch.set_float32_matmul_precision: three digits would flip near ties.
            with torch.autocast(asking_RD.device.type, enabled=False):
                score_RC = asking_RD @ answer_CD.T
            if less_T is not None:
                score_RC -= less_T[start : start + width]
            column_RK = first_largest(score_RC, count=min(count, width))
            # A stable sort: what an earlier block found comes before equals of this one.
            both_RE = torch.cat([best_RK, score_RC.gather(1, column_RK)], dim=1)
            best_RE, order_RE = both_RE.sort(dim=1, descending=True, stable=True)
            best_RK = best_RE[:, :count]
            place_RK = torch.cat([place_RK, column_RK + start], dim=1).gather(1, order_RE[:, :count])
            start += width
        found.append((best_RK, place_RK))
    best, places = zip(*found, strict=True)
    return torch.cat(best), torch.cat(places)


def _parts(vector_ND: Tensor, *, most: int) -> tuple[Tensor, ...]:
    """Runs of about equal length: a short last one would be multiplied by other code, which rounds otherwise."""
    num_parts = max(1, -(-len(vector_ND) // most))
    length = -(-len(vector_ND) // num_parts)
    # Whole groups also keep rows of a block aligned in memory.
    return torch.split(vector_ND, max(1, min(most, -(-length // GROUP) * GROUP)))


def first_largest(score_RC: Tensor, *, count: int) -> Tensor:
    """Columns of the `count` largest scores in each row, from left to right; among equals the first ones count."""
    width = score_RC.shape[1]
    whole = width - width % GROUP
    if width <= 2 * count * GROUP:
        return _chosen(score_RC, count=count)
    # Choosing is slow over wide rows and maxima are cheap. Whatever is among the first largest lies in one of the
    # groups with the first largest maxima: in each of these, something comes before all that the others have.
    largest_RM = score_RC[:, :whole].view(len(score_RC), whole // GROUP, GROUP).amax(2)
    group_RK = _chosen(largest_RM, count=count)
    within_G = torch.arange(GROUP, device=score_RC.device)
    left_over = torch.arange(whole, width, device=score_RC.device).expand(len(score_RC), -1)
    column_RE = torch.cat([(group_RK[:, :, None] * GROUP + within_G).flatten(1), left_over], dim=1)
    return column_RE.gather(1, _chosen(score_RC.gather(1, column_RE), count=count))


def _chosen(score_RC: Tensor, *, count: int) -> Tensor:
    # topk may take any of several equal scores, so only its least is used.
    least_R1 = score_RC.topk(count, dim=1).values[:, -1:]
    above_RC, equal_RC = score_RC > least_R1, score_RC == least_R1
    needed_R1 = count - above_RC.sum(1, keepdim=True)
    is_chosen_RC = above_RC | (equal_RC & (equal_RC.cumsum(1, dtype=torch.int32) <= needed_R1))
    return is_chosen_RC.nonzero()[:, 1].view(len(score_RC), count)


def _unit_vectors(source_ND: Vectors, target_TD: Vectors) -> tuple[Tensor, Tensor]:
    """Both sides at length 1, in the wider of their precisions."""
    source_ND, target_TD = _vectors(source_ND, side="source"), _vectors(target_TD, side="target")
    if source_ND.shape[1] != target_TD.shape[1]:
        widths = f"width {source_ND.shape[1]} cannot be compared with target vectors of width {target_TD.shape[1]}"
        raise IsoglotError(f"retrieval: source vectors of {widths}; map them into one space first")
    precise = torch.promote_types(source_ND.dtype, target_TD.dtype)
    return _unit_length(source_ND.to(precise)), _unit_length(target_TD.to(precise))


def _unit_length(vector_ND: Tensor) -> Tensor:
    # Through the largest coordinate, so that no square overflows or vanishes; zeros stay.
    largest_N1 = vector_ND.abs().amax(1, keepdim=True)
    scaled_ND = vector_ND / largest_N1.where(largest_N1 > 0, 1)
    length_N1: Tensor = torch.linalg.vector_norm(scaled_ND, dim=1, keepdim=True)
    return scaled_ND / length_N1.clamp(min=1)


def _vectors(vectors: Vectors, *, side: str) -> Tensor:
    vector_ND = matrix_of(vectors, name=f"{side} vectors of retrieval")
    if not len(vector_ND):
        raise IsoglotError(f"retrieval: there are no {side} vectors; give at least one")
    return vector_ND
