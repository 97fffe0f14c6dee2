"""Cross-lingual structure with no mapping: do translations lie next to each other, and when in training?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model, kept_models
from isoglot.pipeline.stages.readers import TwoModelStage, enough_threads, opened_reader, parallel_sentences
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.text import SplitText
from isoglot.pipeline.stages.translations import AnyDictionary, AnyParallelText, word_pairs
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.store import Resources, Stage, Work

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.corpora.sentences import EncodedSentence
    from isoglot.evaluation.geometry.reader import EncoderReader


@dataclass(frozen=True, kw_only=True)
class Emergence(Stage):
    """Retrieval of parallel sentences and translation of words at every layer, by cosine alone."""

    kind: ClassVar[str] = "emergence"
    titled: ClassVar[str] = "retrieval, {self.encoder.title}"
    version: ClassVar[int] = 4
    encoder: AnyEncoder
    languages: tuple[str, str]
    vocabulary: BuiltVocabulary
    bpe: Mapping[str, LearnedBpe]
    parallel: AnyParallelText
    dictionary: AnyDictionary | None  # the word translations to score, if there are any
    # The held-out lines of these are the contexts of words; they are not translations of each other.
    texts: Mapping[str, SplitText]

    def resources(self) -> Resources:
        return for_reading(self.encoder.run.shape)

    def make(self, work: Work) -> None:
        model = chosen_model(work.path(self.encoder))
        scores = [Score(metric="parameters", value=sum(parameter.numel() for parameter in model.parameters()))]
        readers = [opened_reader(work.path, self.encoder, language=language) for language in self.languages]
        with enough_threads(readers[0]):
            scores += self._sentence_scores(work, readers)
            if self.dictionary is not None:
                scores += self._word_scores(work, readers, self.dictionary)
        write_scores(work.folder, scores)

    def _sentence_scores(self, work: Work, readers: Sequence[EncoderReader]) -> Iterator[Score]:
        from isoglot.evaluation.geometry.retrieval import centred, retrieval_precision

        source_SND, target_SND = _vectors(readers, parallel_sentences(work, self.parallel, readers))
        yield Score(metric="retrieval_p1_chance", value=100 / source_SND.shape[1])
        for layer, (source_ND, target_ND) in enumerate(zip(source_SND, target_SND, strict=True)):
            # Departure: each language's mean is taken away first; the scores without that stand beside these.
            precision = retrieval_precision(centred(source_ND), centred(target_ND))
            yield Score(metric="retrieval_p1", layer=layer, value=precision)
            uncentred = retrieval_precision(source_ND, target_ND)
            yield Score(metric="retrieval_p1_uncentred", layer=layer, value=uncentred)

    def _word_scores(self, work: Work, readers: Sequence[EncoderReader], dictionary: AnyDictionary) -> Iterator[Score]:
        from isoglot.evaluation.geometry.hidden_states import word_type_vectors
        from isoglot.evaluation.geometry.retrieval import centred, retrieval_precision

        splittings = {language: text.splitting for language, text in self.texts.items()}
        listed = [(a, b) for a, b, _ in word_pairs(work.path(dictionary), dictionary.names, splittings)]
        lines, entry_of = [], []
        for side, language in enumerate(self.languages):
            lines.append(list(NumberedText.read(work.path(self.texts[language])).lines(Split.TEST)))
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
        source_SWD, target_SWD = (
            word_type_vectors(
                reader,
                reader.whole_sentences_of_words(lines[side]),
                types={word: rows[side][entry] for word, entry in entry_of[side].items() if entry in rows[side]},
            )[0]
            for side, reader in enumerate(readers)
        )
        # Departure: words spelled alike in both languages are among the answers, but are not asked for: where the table
        # is shared they have one vector, and finding it shows no structure.
        questions = [(rows[0][a], rows[1][b]) for a, b in pairs if a != b]
        for layer, (source_WD, target_WD) in enumerate(zip(source_SWD, target_SWD, strict=True)):
            precision = retrieval_precision(centred(source_WD), centred(target_WD), questions)
            yield Score(metric="word_translation_p1", layer=layer, value=precision)
        yield Score(metric="word_translation_p1_chance", value=100 / len(rows[1]))
        yield Score(metric="word_translation_coverage", value=100 * len(pairs) / len(listed))


@dataclass(frozen=True, kw_only=True)
class StructureOverTraining(TwoModelStage):
    """Retrieval and CKA of the models that a bilingual run kept; the chosen model is the last point."""

    kind: ClassVar[str] = "structure-over-training"
    titled: ClassVar[str] = "structure over training, {self.label}"
    retrieval: AnyParallelText | None  # the sentences of `Emergence`
    similarity: AnyParallelText | None  # the sentences of Figure 7

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.cka import linear_cka
        from isoglot.evaluation.geometry.retrieval import centred, retrieval_precision
        from isoglot.model.cloze import read_model

        def precision(source_ND: Tensor, target_ND: Tensor) -> float:
            return retrieval_precision(centred(source_ND), centred(target_ND))

        folders = kept_models(work.path(self.encoders[self.languages[0]]), source=self.languages[0])
        scores = []
        with self.readers(work) as readers:
            # All models of a run have the same vocabulary, so sentences are encoded once.
            measures = [
                (metric, measure, parallel_sentences(work, text, readers))
                for metric, measure, text in (
                    ("retrieval_p1", precision, self.retrieval),
                    ("cka", linear_cka, self.similarity),
                )
                if text is not None
            ]
            if self.retrieval is not None:
                scores.append(Score(metric="retrieval_p1_chance", value=100 / len(measures[0][2][0])))
            for place, (update, folder) in enumerate(folders.items()):
                weights = read_model(folder).encoder.state_dict()
                for reader in readers:
                    reader.encoder.load_state_dict(weights)
                for metric, measure, sentences in measures:
                    for layer, both in enumerate(zip(*_vectors(readers, sentences), strict=True)):
                        scores.append(Score(metric=metric, layer=layer, update=update, value=float(measure(*both))))
                work.progress(place + 1, len(folders), "models")
        write_scores(work.folder, scores)


def _vectors(readers: Sequence[EncoderReader], sentences: Sequence[Sequence[EncodedSentence]]) -> tuple[Tensor, Tensor]:
    from isoglot.evaluation.geometry.hidden_states import sentence_vectors

    source_SND, target_SND = (sentence_vectors(reader, lines) for reader, lines in zip(readers, sentences, strict=True))
    return source_SND, target_SND
