"""Cross-lingual structure with no mapping at all: do translations lie next to each other?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import EncodedSentence, encoded_sentences
from isoglot.corpora.streams import Split
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.errors import IsoglotError
from isoglot.stages.models import AnyEncoder, chosen_model
from isoglot.stages.parallel_text import SyntheticParallelText, dictionary_pairs, parallel_lines
from isoglot.stages.text import SplitText, split_lines
from isoglot.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe

if TYPE_CHECKING:
    from isoglot.encoder.encoder import Encoder

SCORES = "scores.json"
Score = dict[str, str | int | float | None]


@dataclass(frozen=True, kw_only=True)
class Emergence(Stage):
    """Retrieval of parallel sentences and translation of words at every layer, by cosine alone."""

    kind: ClassVar[str] = "emergence"
    encoder: AnyEncoder
    languages: tuple[str, str]
    vocabulary: BuiltVocabulary
    bpe: Mapping[str, LearnedBpe]
    parallel: SyntheticParallelText
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
        scores = [_score("parameters", None, sum(parameter.numel() for parameter in model.parameters()))]
        typical_tokens = SENTENCES_AT_ONCE * self.encoder.run.window
        with machine.threads_for(num_activations=typical_tokens * encoder.shape.width):
            scores += self._sentence_scores(work, encoder) + self._word_scores(work, encoder)
        (work.folder / SCORES).write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")

    def _sentence_scores(self, work: Work, encoder: Encoder) -> list[Score]:
        from isoglot.geometry.hidden_states import sentence_vectors
        from isoglot.geometry.retrieval import centred, retrieval_precision

        source_SND, target_SND = (
            sentence_vectors(
                encoder,
                self._encoded(work, parallel_lines(work.path(self.parallel), language), language=language),
                language=language,
            )
            for language in self.languages
        )
        scores = [_score("retrieval_p1_chance", None, 100 / source_SND.shape[1])]
        for layer, (source_ND, target_ND) in enumerate(zip(source_SND, target_SND, strict=True)):
            # Departure: each language's mean is taken away first; the scores without that stand beside these.
            scores.append(_score("retrieval_p1", layer, retrieval_precision(centred(source_ND), centred(target_ND))))
            scores.append(_score("retrieval_p1_uncentred", layer, retrieval_precision(source_ND, target_ND)))
        return scores

    def _word_scores(self, work: Work, encoder: Encoder) -> list[Score]:
        from isoglot.geometry.hidden_states import word_type_vectors
        from isoglot.geometry.retrieval import centred, retrieval_precision

        source, target = self.languages
        encoded = {
            language: self._encoded(work, split_lines(work.path(self.texts[language]), Split.TEST), language=language)
            for language in self.languages
        }
        met = {
            language: {word for sentence in sentences for word in sentence.words}
            for language, sentences in encoded.items()
        }
        listed = dictionary_pairs(work.path(self.parallel), source=source, target=target)
        # A word that is never met has no vector: left in, it would pull the mean and stand among the wrong answers.
        pairs = [(a, b) for a, b in listed if a in met[source] and b in met[target]]
        if all(a == b for a, b in pairs):
            raise IsoglotError(
                "no two words of different spelling that translate each other are met in the held-out lines; "
                "raise change.test_lines, or lower synthetic.languages.*.cognates"
            )
        types = {
            language: {word: row for row, word in enumerate(sorted(set(words)))}
            for language, words in zip(self.languages, zip(*pairs, strict=True), strict=True)
        }
        vectors = {
            language: word_type_vectors(encoder, encoded[language], types=types[language], language=language)[0]
            for language in self.languages
        }
        # Departure: words spelled alike in both languages are among the answers, but are not asked for: where the table
        # is shared they have one vector, and finding it shows no structure.
        rows = [(types[source][a], types[target][b]) for a, b in pairs if a != b]
        return [
            _score("word_translation_p1", layer, retrieval_precision(centred(source_WD), centred(target_WD), rows))
            for layer, (source_WD, target_WD) in enumerate(zip(vectors[source], vectors[target], strict=True))
        ] + [
            _score("word_translation_p1_chance", None, 100 / len(types[target])),
            _score("word_translation_coverage", None, 100 * len(pairs) / len(listed)),
        ]

    def _encoded(self, work: Work, lines: list[str], *, language: str) -> list[EncodedSentence]:
        return encoded_sentences(
            lines,
            language=language,
            bpe=Bpe.read(work.path(self.bpe[language]) / MERGES),
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        )


def _score(metric: str, layer: int | None, value: float) -> Score:
    return {"metric": metric, "layer": layer, "value": round(value, 4)}
