"""Single sentences as a model reads them: ids between two end symbols, each subword tied to its word."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import END, Vocabulary


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


NO_WORD = -1
LINES_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True)
class EncodedSentence:
    """`word_of[i]` is the place in `words` of the word that `ids[i]` is a part of; NO_WORD at the two ends."""

    words: tuple[str, ...]
    ids: tuple[int, ...]
    word_of: tuple[int, ...]

    def pieces(self, *, most_tokens: int) -> Iterator["EncodedSentence"]:
        """The sentence in as few parts of whole words as have no more tokens, ends included; at least one."""
        room, last = most_tokens - 2, len(self.ids) - 1
        ends_of_words = [place for place in range(2, last) if self.word_of[place] != self.word_of[place - 1]] + [last]
        # A part ends with a word where the next one would go beyond its room. A word alone may be longer: it is cut.
        first = end = 1
        for next_end in ends_of_words:
            if next_end - first > room and end > first:
                yield self._part(first, min(end, first + room))
                first = end
            end = next_end
        yield self._part(first, min(end, first + room))

    def _part(self, first: int, end: int) -> "EncodedSentence":
        places = self.word_of[first:end]
        words = self.words[places[0] : places[-1] + 1] if places else ()
        return EncodedSentence(
            words=words,
            ids=(self.ids[0], *self.ids[first:end], self.ids[-1]),
            word_of=(NO_WORD, *(place - places[0] for place in places), NO_WORD),
        )


def encoded_sentences(
    lines: Iterable[Sequence[str]], *, language: str, bpe: Bpe, vocabulary: Vocabulary
) -> list[EncodedSentence]:
    return list(sentence_stream(lines, encoding=Encoding(language=language, bpe=bpe, vocabulary=vocabulary)))


def sentence_stream(lines: Iterable[Sequence[str]], *, encoding: Encoding) -> Iterator[EncodedSentence]:
    """The same, where a stream of lines stays one."""
    stream = iter(lines)
    while pool := list(islice(stream, LINES_AT_ONCE)):
        encoding.meet(chain.from_iterable(pool))
        for words in pool:
            subwords = [encoding.known[word] for word in words]
            places = chain.from_iterable(map(repeat, range(len(words)), map(len, subwords)))
            yield EncodedSentence(
                words=tuple(words),
                ids=(END, *chain.from_iterable(subwords), END),
                word_of=(NO_WORD, *places, NO_WORD),
            )
