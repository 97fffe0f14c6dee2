"""Single sentences as a model reads them: ids between two end symbols, each subword tied to its word."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import END, Vocabulary

NO_WORD = -1


@dataclass(frozen=True, kw_only=True)
class EncodedSentence:
    """`word_of[i]` is the place in `words` of the word that `ids[i]` is a part of; NO_WORD at the two ends."""

    words: tuple[str, ...]
    ids: tuple[int, ...]
    word_of: tuple[int, ...]

    def pieces(self, *, most_tokens: int) -> Iterator["EncodedSentence"]:
        """The sentence in as few parts of whole words as have no more tokens, ends included; at least one.

        Of a word that is longer than that, as much as fits is kept.
        """
        room = most_tokens - 2
        first = 1
        while True:
            end = min(first + room, len(self.ids) - 1)
            if end < len(self.ids) - 1 and self.word_of[end] == self.word_of[end - 1]:
                start_of_word = self.word_of.index(self.word_of[end])
                end = start_of_word if start_of_word > first else end
            yield self._part(first, end)
            first = end
            while first < len(self.ids) - 1 and self.word_of[first] == self.word_of[first - 1]:
                first += 1
            if first >= len(self.ids) - 1:
                return

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
    """One sentence for each line of words."""
    sentences = []
    for words in lines:
        ids, word_of = [END], [NO_WORD]
        for place, word in enumerate(words):
            subwords = vocabulary.encode(language, bpe.segment(word))
            ids += subwords
            word_of += [place] * len(subwords)
        sentences.append(EncodedSentence(words=tuple(words), ids=(*ids, END), word_of=(*word_of, NO_WORD)))
    return sentences
