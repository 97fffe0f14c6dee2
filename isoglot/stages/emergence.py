"""Cross-lingual structure with no mapping at all: do translations lie next to each other?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.sentences import EncodedSentence, encoded_sentences
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.stages.dictionaries import AnyDictionary, word_pairs
from isoglot.stages.models import AnyEncoder, chosen_model
from isoglot.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.stages.scores import Score, write_scores
from isoglot.stages.split_text import SplitText
from isoglot.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe

if TYPE_CHECKING:
    from isoglot.encoder.encoder import Encoder

Encode = dict[str, Callable[[Iterable[Sequence[str]]], list[EncodedSentence]]]


@dataclass(frozen=True, kw_only=True)
class Emergence(Stage):
    """Retrieval of parallel sentences and translation of words at every layer, by cosine alone."""

    kind: ClassVar[str] = "emergence"
    version: ClassVar[int] = 3
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

    def make(self, work: Work) -> None:
        from isoglot.geometry.hidden_states import SENTENCES_AT_ONCE
        from isoglot.machine import this_machine

        machine = this_machine()
        model = chosen_model(work.path(self.encoder))
        encoder = model.encoder.to(machine.device)
        scores = [Score(metric="parameters", value=sum(parameter.numel() for parameter in model.parameters()))]
        typical_tokens = SENTENCES_AT_ONCE * self.encoder.run.window
        encode = self._encode(work)
        with machine.threads_for(num_activations=typical_tokens * encoder.shape.width):
            scores += self._sentence_scores(work, encoder, encode)
            if self.dictionary is not None:
                scores += self._word_scores(work, encoder, encode, self.dictionary)
        write_scores(work.folder, scores)

    def _sentence_scores(self, work: Work, encoder: Encoder, encode: Encode) -> list[Score]:
        from isoglot.geometry.hidden_states import sentence_vectors
        from isoglot.geometry.retrieval import centred, retrieval_precision

        source_SND, target_SND = (
            sentence_vectors(
                encoder,
                # Departure: a sentence longer than the windows of training is cut, as no position beyond was learned.
                [
                    next(sentence.pieces(most_tokens=self.encoder.run.window))
                    for sentence in encode[language](self._parallel_words(work, language))
                ],
                language=language,
            )
            for language in self.languages
        )
        scores = [Score(metric="retrieval_p1_chance", value=100 / source_SND.shape[1])]
        for layer, (source_ND, target_ND) in enumerate(zip(source_SND, target_SND, strict=True)):
            # Departure: each language's mean is taken away first; the scores without that stand beside these.
            precision = retrieval_precision(centred(source_ND), centred(target_ND))
            uncentred = retrieval_precision(source_ND, target_ND)
            scores.append(Score(metric="retrieval_p1", layer=layer, value=precision))
            scores.append(Score(metric="retrieval_p1_uncentred", layer=layer, value=uncentred))
        return scores

    def _word_scores(self, work: Work, encoder: Encoder, encode: Encode, dictionary: AnyDictionary) -> list[Score]:
        from isoglot.geometry.hidden_states import word_type_vectors
        from isoglot.geometry.retrieval import centred, retrieval_precision

        source, target = self.languages
        texts = {language: NumberedText.read(work.path(self.texts[language])) for language in self.languages}
        encoded = {
            language: self._in_pieces(encode[language](text.lines(Split.TEST))) for language, text in texts.items()
        }
        met = {
            language: {word for sentence in sentences for word in sentence.words}
            for language, sentences in encoded.items()
        }
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
            language: word_type_vectors(encoder, encoded[language], types=row_of[language], language=language)[0]
            for language in self.languages
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

    def _parallel_words(self, work: Work, language: str) -> list[list[str]]:
        """Parallel sentences, their words found as those of the text are."""
        return split_lines(parallel_lines(work.path(self.parallel), language), self.texts[language].splitting)

    def _in_pieces(self, sentences: Iterable[EncodedSentence]) -> list[EncodedSentence]:
        """As long as what the model was trained on."""
        return [piece for each in sentences for piece in each.pieces(most_tokens=self.encoder.run.window)]

    def _encode(self, work: Work) -> Encode:
        """How lines of words become sentences, for each language; merges and vocabulary are read once."""
        vocabulary = Vocabulary.read(work.path(self.vocabulary) / VOCABULARY)
        return {
            language: partial(
                encoded_sentences,
                language=language,
                bpe=Bpe.read(work.path(self.bpe[language]) / MERGES),
                vocabulary=vocabulary,
            )
            for language in self.languages
        }
