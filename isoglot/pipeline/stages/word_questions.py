"""Words of a dictionary to look for their translations in any layer of a model, with no map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.scores import Score
from isoglot.pipeline.stages.text import SplitText
from isoglot.pipeline.stages.translations import AnyDictionary, word_pairs
from isoglot.store import Work

if TYPE_CHECKING:
    from isoglot.corpora.sentences import EncodedSentence
    from isoglot.evaluation.geometry.reader import EncoderReader


@dataclass(frozen=True, kw_only=True)
class WordQuestions:
    """The words of a dictionary that are met in held-out lines, to ask any model of these languages for."""

    lines: Sequence[Sequence[Sequence[str]]]  # of each language: the contexts of its words
    types: Sequence[Mapping[str, int]]  # of each language: the row of every word's vector
    questions: Sequence[tuple[int, int]]
    facts: Sequence[Score]  # chance, and how much of the dictionary is met

    @classmethod
    def of(
        cls, work: Work, dictionary: AnyDictionary, *, texts: Mapping[str, SplitText], languages: tuple[str, str]
    ) -> WordQuestions:
        splittings = {language: text.splitting for language, text in texts.items()}
        listed = [(a, b) for a, b, _ in word_pairs(work.path(dictionary), dictionary.names, splittings)]
        lines, entry_of = [], []
        for side, language in enumerate(languages):
            lines.append(list(NumberedText.read(work.path(texts[language])).lines(Split.TEST)))
            known = {pair[side] for pair in listed}
            # Departure: a word that the dictionary does not have with its capitals is met as the one in lower case.
            entry_of.append({word: word if word in known else word.lower() for line in lines[side] for word in line})
        # A word that is never met has no vector: left in, it would pull the mean and stand among the wrong answers.
        met = [set(entries.values()) for entries in entry_of]
        pairs = [(a, b) for a, b in listed if a in met[0] and b in met[1]]
        if all(a == b for a, b in pairs):
            raise IsoglotError(
                "no two words of different spelling that translate each other are met in the held-out lines; "
                "raise change.test_lines, give another dictionary, or lower synthetic.languages.*.cognates"
            )
        rows = [{word: row for row, word in enumerate(sorted(set(words)))} for words in zip(*pairs, strict=True)]
        return cls(
            lines=lines,
            types=[
                {word: own[entry] for word, entry in entries.items() if entry in own}
                for own, entries in zip(rows, entry_of, strict=True)
            ],
            # Departure: words spelled alike in both languages are among the answers, but are not asked for: where the
            # table is shared they have one vector, and finding it shows no structure.
            questions=[(rows[0][a], rows[1][b]) for a, b in pairs if a != b],
            facts=[
                Score(metric="word_translation_p1_chance", value=100 / len(rows[1])),
                Score(metric="word_translation_coverage", value=100 * len(pairs) / len(listed)),
            ],
        )

    def encoded(self, readers: Sequence[EncoderReader]) -> list[list[EncodedSentence]]:
        """The contexts of each language; the same for all models with one vocabulary."""
        return [list(each.whole_sentences_of_words(lines)) for each, lines in zip(readers, self.lines, strict=True)]

    def scores(self, readers: Sequence[EncoderReader], encoded: Sequence[Sequence[EncodedSentence]]) -> Iterator[Score]:
        """Precision at 1 of every layer of a model, read in both languages."""
        from isoglot.evaluation.geometry.hidden_states import word_type_vectors
        from isoglot.evaluation.geometry.retrieval import centred_precision

        vectors = [
            word_type_vectors(reader, lines, types=types)[0]
            for reader, lines, types in zip(readers, encoded, self.types, strict=True)
        ]
        for layer, (source_WD, target_WD) in enumerate(zip(*vectors, strict=True)):
            value = centred_precision(source_WD, target_WD, self.questions)
            yield Score(metric="word_translation_p1", layer=layer, value=value)
