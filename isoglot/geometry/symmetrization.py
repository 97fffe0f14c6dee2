"""Links of two directions made one: grow-diag-final-and (Koehn et al., 2005)."""

from collections.abc import Collection, Iterable
from itertools import product

from isoglot.geometry.word_links import Link

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
