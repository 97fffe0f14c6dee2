"""Single sentences as a model reads them: ids between two end symbols, each subword tied to its word."""

from collections.abc import Iterable, Sequence
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
