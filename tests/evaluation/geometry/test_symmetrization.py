"""grow-diag-final-and on matrices worked by hand, and beside a second version that follows Moses's description."""

from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.evaluation.geometry.word_alignment import Link, grow_diag_final_and

LINKS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)


def drawn(*rows: str) -> tuple[set[Link], set[Link], list[Link]]:
    """Forward, backward and expected links of a drawing: rows are source words, columns target words.

    f and F: forward alone, b and B: backward alone, X: both. Capitals are expected to stay.
    """
    cells = {(i, j): cell for i, row in enumerate(rows) for j, cell in enumerate(row)}
    forward = {link for link, cell in cells.items() if cell in "fFX"}
    backward = {link for link, cell in cells.items() if cell in "bBX"}
    return forward, backward, sorted(link for link, cell in cells.items() if cell in "FBX")


def test_by_hand() -> None:
    for rows in (
        ("X..", ".X.", "..X"),
        # Growing: straight, diagonal, and from what was grown.
        ("XF.", "...", "..."),
        ("X..", ".B.", "..F"),
        # Both words of the corner are taken when its turn comes, as rows go first.
        ("XF", "Fb"),
        ("X.", "fX"),
        # Final: far from all others, and both words free.
        ("X...", "...F", "...."),
        ("X...", "...B", "...."),
        # Final-and: one word is taken, so not.
        ("X..f", "....", "b..."),
        # Forward links go first.
        ("....", "F..b", "...."),
        ("....", "...F", "...b"),
        # No intersection: nothing to grow from, and only links of free words stay.
        ("F...", "..F.", "b..."),
    ):
        forward, backward, expected = drawn(*rows)
        assert grow_diag_final_and(forward, backward) == expected, rows


def test_nothing_gives_nothing() -> None:
    assert grow_diag_final_and([], []) == []
    assert grow_diag_final_and([], [(3, 1)]) == [(3, 1)]


def by_matrix(forward: set[Link], backward: set[Link], size: int = 8) -> list[Link]:
    """The pseudocode of Koehn's manual, with the candidates in the order of atools."""
    union = [[(i, j) in forward | backward for j in range(size)] for i in range(size)]
    kept = [[(i, j) in forward & backward for j in range(size)] for i in range(size)]

    def row_is_free(i: int) -> bool:
        return not any(kept[i])

    def column_is_free(j: int) -> bool:
        return not any(row[j] for row in kept)

    def is_beside(i: int, j: int) -> bool:
        around = [(a, b) for a in (i - 1, i, i + 1) for b in (j - 1, j, j + 1) if (a, b) != (i, j)]
        return any(kept[a][b] for a, b in around if 0 <= a < size and 0 <= b < size)

    has_grown = True
    while has_grown:
        has_grown = False
        for i in range(size):
            for j in range(size):
                free = row_is_free(i) or column_is_free(j)
                if union[i][j] and not kept[i][j] and free and is_beside(i, j):
                    kept[i][j] = has_grown = True
    for direction in (forward, backward):
        for i in range(size):
            for j in range(size):
                if (i, j) in direction and row_is_free(i) and column_is_free(j):
                    kept[i][j] = True
    return [(i, j) for i in range(size) for j in range(size) if kept[i][j]]


@settings(max_examples=150)
@given(LINKS, LINKS)
def test_beside_the_pseudocode(forward: set[Link], backward: set[Link]) -> None:
    assert grow_diag_final_and(forward, backward) == by_matrix(forward, backward)


@given(LINKS, LINKS)
def test_between_intersection_and_union(forward: set[Link], backward: set[Link]) -> None:
    links = set(grow_diag_final_and(forward, backward))
    assert forward & backward <= links <= forward | backward


@given(LINKS)
def test_directions_that_agree_stay_as_they_are(links: set[Link]) -> None:
    assert grow_diag_final_and(links, links) == sorted(links)


@given(LINKS, LINKS)
def test_no_word_of_either_direction_is_left_alone_without_need(forward: set[Link], backward: set[Link]) -> None:
    links = grow_diag_final_and(forward, backward)
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    assert all(source in sources or target in targets for source, target in forward | backward)
