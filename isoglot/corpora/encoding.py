"""How the words of one language become ids."""

from collections.abc import Iterable

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import Vocabulary


class Encoding:
    """Each spelling is looked up once."""

    def __init__(self, *, language: str, bpe: Bpe, vocabulary: Vocabulary):
        self.language, self.bpe, self.vocabulary = language, bpe, vocabulary
        self.known: dict[str, tuple[int, ...]] = {}

    def meet(self, words: Iterable[str]) -> None:
        """Look up words that are new; many at once are much faster than one."""
        fresh = [word for word in dict.fromkeys(words) if word not in self.known]
        for word, subwords in zip(fresh, self.bpe.segment_all(fresh), strict=True):
            self.known[word] = tuple(self.vocabulary.encode(self.language, subwords))
