"""Cross-lingual structure with no mapping at all: do translations lie next to each other?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.dictionaries import AnyDictionary, word_pairs
from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model
from isoglot.pipeline.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.readers import opened_reader
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.split_text import SplitText
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.store import Resources, Stage, Work

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.reader import EncoderReader


@dataclass(frozen=True, kw_only=True)
class Emergence(Stage):
    """Retrieval of parallel sentences and translation of words at every layer, by cosine alone."""

    kind: ClassVar[str] = "emergence"
    version: ClassVar[int] = 4
    encoder: AnyEncoder
    languages: tuple[str, str]
    vocabulary: BuiltVocabulary
    bpe: Mapping[str, LearnedBpe]
    parallel: AnyParallelText
    dictionary: AnyDictionary | None
    """Whose word translations are scored, if there is one."""
    texts: Mapping[str, SplitText]
    """Where words are met in context: held-out lines, which are no translations of each other."""

    @property
    def title(self) -> str:
        return f"retrieval, {self.encoder.title}"

    def resources(self) -> Resources:
        return for_reading(self.encoder.run.shape)

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.hidden_states import SENTENCES_AT_ONCE
        from isoglot.machine import this_machine

        model = chosen_model(work.path(self.encoder))
        scores = [Score(metric="parameters", value=sum(parameter.numel() for parameter in model.parameters()))]
        readers = {language: self._reader(work, language) for language in self.languages}
        typical_tokens = SENTENCES_AT_ONCE * self.encoder.run.window
        with this_machine().threads_for(num_activations=typical_tokens * self.encoder.run.shape.width):
            scores += self._sentence_scores(work, readers)
            if self.dictionary is not None:
                scores += self._word_scores(work, readers, self.dictionary)
        write_scores(work.folder, scores)

    def _reader(self, work: Work, language: str) -> EncoderReader:
        """The words of parallel sentences are found as those of the text are."""
        return opened_reader(
            work.path,
            encoder=self.encoder,
            vocabulary=self.vocabulary,
            bpe=self.bpe[language],
            language=language,
            splitting=self.texts[language].splitting,
        )

    def _sentence_scores(self, work: Work, readers: Mapping[str, EncoderReader]) -> list[Score]:
        from isoglot.evaluation.geometry.hidden_states import sentence_vectors
        from isoglot.evaluation.geometry.retrieval import centred, retrieval_precision

        source_SND, target_SND = (
            sentence_vectors(reader, reader.sentences(parallel_lines(work.path(self.parallel), language)))
            for language, reader in readers.items()
        )
        scores = [Score(metric="retrieval_p1_chance", value=100 / source_SND.shape[1])]
        for layer, (source_ND, target_ND) in enumerate(zip(source_SND, target_SND, strict=True)):
            # Departure: each language's mean is taken away first; the scores without that stand beside these.
            precision = retrieval_precision(centred(source_ND), centred(target_ND))
            uncentred = retrieval_precision(source_ND, target_ND)
            scores.append(Score(metric="retrieval_p1", layer=layer, value=precision))
            scores.append(Score(metric="retrieval_p1_uncentred", layer=layer, value=uncentred))
        return scores

    def _word_scores(self, work: Work, readers: Mapping[str, EncoderReader], dictionary: AnyDictionary) -> list[Score]:
        from isoglot.evaluation.geometry.hidden_states import word_type_vectors
        from isoglot.evaluation.geometry.retrieval import centred, retrieval_precision

        source, target = self.languages
        lines = {
            language: list(NumberedText.read(work.path(self.texts[language])).lines(Split.TEST))
            for language in self.languages
        }
        met = {language: {word for line in lines[language] for word in line} for language in self.languages}
        splittings = {language: text.splitting for language, text in self.texts.items()}
        listed = [(a, b) for a, b, _ in word_pairs(work.path(dictionary), dictionary.names, splittings)]
        listed_words = {language: {pair[side] for pair in listed} for side, language in enumerate(self.languages)}
        # Departure: a word that the dictionary does not have with its capitals is met as the one in lower case.
        entry_of = {
            language: {word: word if word in listed_words[language] else word.lower() for word in words}
            for language, words in met.items()
        }
        known = {language: set(entries.values()) for language, entries in entry_of.items()}
        # A word that is never met has no vector: left in, it would pull the mean and stand among the wrong answers.
        pairs = [(a, b) for a, b in listed if a in known[source] and b in known[target]]
        if all(a == b for a, b in pairs):
            raise IsoglotError(
                "no two words of different spelling that translate each other are met in the held-out lines; "
                "raise change.test_lines, give another dictionary, or lower synthetic.languages.*.cognates"
            )
        types = {
            language: {word: row for row, word in enumerate(sorted(set(words)))}
            for language, words in zip(self.languages, zip(*pairs, strict=True), strict=True)
        }
        row_of = {
            language: {word: types[language][entry] for word, entry in entries.items() if entry in types[language]}
            for language, entries in entry_of.items()
        }
        vectors = {
            language: word_type_vectors(
                reader, reader.whole_sentences_of_words(lines[language]), types=row_of[language]
            )[0]
            for language, reader in readers.items()
        }
        # Departure: words spelled alike in both languages are among the answers, but are not asked for: where the table
        # is shared they have one vector, and finding it shows no structure.
        rows = [(types[source][a], types[target][b]) for a, b in pairs if a != b]
        return [
            Score(
                metric="word_translation_p1",
                layer=layer,
                value=retrieval_precision(centred(source_WD), centred(target_WD), rows),
            )
            for layer, (source_WD, target_WD) in enumerate(zip(vectors[source], vectors[target], strict=True))
        ] + [
            Score(metric="word_translation_p1_chance", value=100 / len(types[target])),
            Score(metric="word_translation_coverage", value=100 * len(pairs) / len(listed)),
        ]
