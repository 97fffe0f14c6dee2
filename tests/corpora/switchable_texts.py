"""Small texts with dictionaries: language "x" in small letters, "y" in capitals, a token for each letter."""

from collections import Counter
from collections.abc import Mapping, Sequence

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText, Translation
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.vocabulary import Vocabulary, build_vocabulary
from isoglot.study.conditions import TableKind

LETTERS = Bpe(merges=())
Weighted = Mapping[str, Sequence[tuple[str, float]]]


def vocabulary_of(lines: Sequence[str], translations: Weighted) -> Vocabulary:
    targets = [word for known in translations.values() for word, _ in known]
    counts = {"x": Counter(word for line in lines for word in line.split()), "y": Counter(targets)}
    return build_vocabulary(
        TableKind.JOINT, counts={language: LETTERS.subword_counts(words) for language, words in counts.items()}
    )


def training_text(lines: Sequence[str]) -> NumberedText:
    return NumberedText.of({Split.TRAIN: [line.split() for line in lines]})


def switchable_text(lines: Sequence[str], translations: Weighted) -> SwitchableText:
    return SwitchableText.of(
        training_text(lines),
        language="x",
        translations={
            word: [Translation(language="y", word=target, weight=weight) for target, weight in known]
            for word, known in translations.items()
        },
        bpe={"x": LETTERS, "y": LETTERS},
        vocabulary=vocabulary_of(lines, translations),
    )
