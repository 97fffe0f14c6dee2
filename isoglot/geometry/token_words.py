"""Which word each token of a line is a part of, from what a fast tokenizer of Hugging Face says."""

from collections.abc import Sequence
from itertools import groupby

from isoglot.corpora.sentences import NO_WORD, EncodedSentence


def sentence_of_tokens(
    line: str,
    *,
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    is_special: Sequence[int],
    words: Sequence[int | None],
) -> EncodedSentence:
    """Words are those of the tokenizer, cut at white space where it does not do that itself."""
    stretch_of = _stretches(line)
    keys = [
        None if special else (word, stretch_of[start])
        for (start, _), special, word in zip(offsets, is_special, words, strict=True)
    ]
    spelled: list[str] = []
    word_of: list[int] = []
    for key, group in groupby(range(len(ids)), key=keys.__getitem__):
        places = list(group)
        word_of += [NO_WORD if key is None else len(spelled)] * len(places)
        if key is not None:
            spelled.append(line[offsets[places[0]][0] : offsets[places[-1]][1]].strip())
    return EncodedSentence(words=tuple(spelled), ids=tuple(ids), word_of=tuple(word_of))


def _stretches(line: str) -> list[int]:
    """For each character and the end, which stretch without white space it is in; white space is in the next."""
    stretches, number, was_space = [], 0, True
    for character in line:
        is_space = character.isspace()
        number += is_space and not was_space
        was_space = is_space
        stretches.append(number)
    return [*stretches, number]
