"""The most similar of many vectors, found block by block so that the whole matrix of similarities is never held."""

# N = queries, T = vectors that may be answers, D = width, K = answers of each; R x C = a block of N x T,
# M x G = its columns in groups, E = columns that may still be among the K

from collections.abc import Iterator

import torch
from torch import Tensor

GROUP = 64
Block = tuple[int, int]
"""The most rows and columns of the matrix that are held at a time."""
BLOCKS: dict[str, Block] = {"cpu": (1024, 32_768), "cuda": (4096, 65_536)}


def nearest_units(
    asking_ND: Tensor, answer_TD: Tensor, *, count: int, less_T: Tensor | None = None, block: Block | None = None
) -> tuple[Tensor, Tensor]:
    """The `count` largest dot products of each vector, less `less_T` of the answers, and their columns, both [N, K].

    They fall from left to right; among equal ones the first column comes first.
    """
    rows, columns = block or BLOCKS.get(asking_ND.device.type, BLOCKS["cpu"])
    values, places = [], []
    for asking_RD in _parts(asking_ND, most=rows):
        blocks = _scored_columns(asking_RD, answer_TD, count=count, less_T=less_T, most=columns)
        best_RK, column_RK = _merged(blocks, count=count)
        values.append(best_RK)
        places.append(column_RK)
    return torch.cat(values), torch.cat(places)


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
    """As `first_largest`, from every score. topk may take any of several equal ones, so only its least is used."""
    least_R1 = score_RC.topk(count, dim=1).values[:, -1:]
    above_RC, equal_RC = score_RC > least_R1, score_RC == least_R1
    needed_R1 = count - above_RC.sum(1, keepdim=True)
    is_chosen_RC = above_RC | (equal_RC & (equal_RC.cumsum(1, dtype=torch.int32) <= needed_R1))
    return is_chosen_RC.nonzero()[:, 1].view(len(score_RC), count)


def _scored_columns(
    asking_RD: Tensor, answer_TD: Tensor, *, count: int, less_T: Tensor | None, most: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """The best columns of each block and their scores, in the order of columns."""
    start = 0
    for answer_CD in _parts(answer_TD, most=most):
        width = len(answer_CD)
        # Full float32, unless the user set torch.set_float32_matmul_precision: three digits would flip near ties.
        with torch.autocast(asking_RD.device.type, enabled=False):
            score_RC = asking_RD @ answer_CD.T
        if less_T is not None:
            score_RC -= less_T[start : start + width]
        column_RK = first_largest(score_RC, count=min(count, width))
        yield score_RC.gather(1, column_RK), column_RK + start
        start += width


def _merged(blocks: Iterator[tuple[Tensor, Tensor]], *, count: int) -> tuple[Tensor, Tensor]:
    """The best of all blocks; the sort is stable, so an earlier block's come before equals of a later one."""
    best, columns = list[Tensor](), list[Tensor]()
    for value_RK, column_RK in blocks:
        best_RE, order_RE = torch.cat([*best, value_RK], 1).sort(dim=1, descending=True, stable=True)
        best = [best_RE[:, :count]]
        columns = [torch.cat([*columns, column_RK], 1).gather(1, order_RE[:, :count])]
    return best[0], columns[0]


def _parts(vector_ND: Tensor, *, most: int) -> tuple[Tensor, ...]:
    """Runs of about equal length: a short last one would be multiplied by other code, which rounds otherwise."""
    num_parts = max(1, -(-len(vector_ND) // most))
    length = -(-len(vector_ND) // num_parts)
    # Whole groups also keep rows of a block aligned in memory.
    return torch.split(vector_ND, max(1, min(most, -(-length // GROUP) * GROUP)))
