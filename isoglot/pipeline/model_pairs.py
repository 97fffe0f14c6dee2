"""Two languages, each as a model reads it: one model of both, or two that never heard of each other (section 5)."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError, MissingDataError
from isoglot.evaluation.geometry.word_alignment import aligner_version
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.sources import Sources, if_given
from isoglot.pipeline.stages.emergence import SentenceAlignment, Similarity, StructureOverTraining
from isoglot.pipeline.stages.layer_transfer import ContextualMaps, LayerHead, LayerTransfer, WordAlignments
from isoglot.pipeline.stages.models import AnyEncoder
from isoglot.pipeline.stages.vocabulary import TokenStreams
from isoglot.pipeline.stages.word_level_alignment import (
    AnyWordVectors,
    FastTextVectors,
    WordLevelAlignment,
    WordVectorFile,
)
from isoglot.study.conditions import MONOLINGUAL, Condition
from isoglot.study.searches import Alignment
from isoglot.study.study import Study


@dataclass(frozen=True, kw_only=True)
class Side:
    """One language as one model reads it."""

    graph: ModelGraph
    language: str
    is_trained: bool = True

    @property
    def encoder(self) -> AnyEncoder:
        return self.graph.pretrained if self.is_trained else self.graph.untrained

    @property
    def stream(self) -> TokenStreams:
        """The text that the model was trained on, with its BPE and vocabulary."""
        return self.encoder.streams[self.language]


@dataclass(frozen=True, kw_only=True)
class ModelPair:
    """Two languages as the figures compare them."""

    source: Side
    target: Side
    label: str  # for people

    @classmethod
    def of(
        cls,
        study: Study,
        condition: Condition,
        languages: tuple[str, str],
        *,
        seed: int,
        is_trained: bool = True,
    ) -> "ModelPair":
        """One model of both, or under `MONOLINGUAL` one of each; untrained is the whole, or there the target alone."""
        source, target = languages
        graph = partial(ModelGraph, study=study, condition=condition, seed=seed)
        if condition is MONOLINGUAL:
            own, other = graph(languages=(source,)), graph(languages=(target,))
            label = f"{condition.name} {source} and {'' if is_trained else 'untrained '}{target}, seed {seed}"
        else:
            # One object for both sides, so that its digests are worked out once.
            own = other = graph(languages=languages)
            label = f"{'' if is_trained else 'untrained '}{own.label}"
        return cls(
            source=Side(graph=own, language=source, is_trained=is_trained or own is not other),
            target=Side(graph=other, language=target, is_trained=is_trained),
            label=label,
        )

    @property
    def languages(self) -> tuple[str, str]:
        return self.source.language, self.target.language

    def sentence_alignment(self) -> SentenceAlignment:
        """Figure 6."""
        return SentenceAlignment(
            **self._both(),
            fit=self._sources.mapping(self.languages),
            test=self._sources.parallel(self.languages),
            rounds=self._alignment.rounds,
            new_vectors=self._alignment.new_vectors,
        )

    def similarity(self) -> Similarity:
        """Figure 7."""
        return Similarity(**self._both(), parallel=self._sources.mapping(self.languages))

    def structure_over_training(self) -> StructureOverTraining:
        """Scores of one model of both, by those of the texts that there are."""
        dictionary = if_given(lambda: self._sources.word_translation(self.languages))
        return StructureOverTraining(
            **self._both(),
            retrieval=if_given(lambda: self._sources.parallel(self.languages)),
            similarity=if_given(lambda: self._sources.mapping(self.languages)),
            dictionary=dictionary,
            texts=None if dictionary is None else self.source.graph.main_texts,
        )

    def word_level_alignment(self) -> WordLevelAlignment:
        """Figure 4."""
        alignment = self._alignment
        fit, test = self._sources.word_mapping(self.languages)
        sides = (self.source, self.target)
        return WordLevelAlignment(
            **self._both(),
            texts={side.language: side.stream.text for side in sides},
            fit=fit,
            test=test,
            vectors={side.language: self._word_vectors(side) for side in sides} if alignment.has_fasttext else {},
            rounds=alignment.rounds,
            word_sentences=alignment.word_sentences,
            most_words=alignment.most_words,
        )

    def _word_vectors(self, side: Side) -> AnyWordVectors:
        # Vectors that the study names, or else trained on the text of the model.
        alignment, file = self._alignment, self._sources.word_vectors(side.language)
        if file is not None:
            return WordVectorFile(file=file, most_words=alignment.most_words)
        return FastTextVectors(text=side.stream.text, training=alignment.fasttext, most_words=alignment.most_words)

    def contextual_maps(self) -> ContextualMaps:
        """From words of the target to those of the source, in context."""
        alignment, parallel, both = self._alignment, self._sources.mapping(self.languages), self._both()
        # A program that is not there leaves cells empty, as a file would.
        try:
            version = aligner_version(alignment.aligner) if alignment.aligner else ""
        except IsoglotError as error:
            raise MissingDataError(f"alignment.aligner: {error}") from error
        links = WordAlignments(
            parallel=parallel,
            languages=self.languages,
            splittings=both["splittings"],
            splitter_versions={name: splitter_version(each) for name, each in both["splittings"].items()},
            aligner=alignment.aligner,
            aligner_version=version,
        )
        return ContextualMaps(
            **both, parallel=parallel, links=links, subwords=alignment.subwords, rounds=alignment.rounds
        )

    def layer_transfer(self, task: str, *, layer: int, is_mapped: bool) -> LayerTransfer:
        """One point of Figure 5, or of Figure 8."""
        source, target = self.source, self.target
        alignment, graph = self._alignment, source.graph
        test = partial(self._sources.examples, task, split="test", pair=self.languages)
        trainings = graph.trainings(task, source.encoder, search=alignment.layer_tasks, pair=self.languages)
        own: dict[str, Any] = {"new_layers": alignment.new_layers, "bpe": source.stream.bpe, "label": graph.label}
        own_test = test(language=source.language)
        heads = tuple(LayerHead(**each, **own, layer=layer, test=own_test) for each in trainings)
        return LayerTransfer(
            heads=heads,
            language=target.language,
            encoder=target.encoder,
            vocabulary=target.stream.vocabulary,
            bpe=target.stream.bpe,
            test=test(language=target.language),
            maps=self.contextual_maps() if is_mapped else None,
            new_vectors=alignment.new_vectors if is_mapped else None,
            label=self.label,
        )

    @property
    def _sources(self) -> Sources:
        return self.source.graph.sources

    @property
    def _alignment(self) -> Alignment:
        return self.source.graph.study.scale.alignment

    def _both(self) -> dict[str, Any]:
        # The fields of TwoModelStage.
        sides = {side.language: side for side in (self.source, self.target)}
        return {
            "languages": self.languages,
            "encoders": {language: side.encoder for language, side in sides.items()},
            "vocabularies": {language: side.stream.vocabulary for language, side in sides.items()},
            "bpe": {language: side.stream.bpe for language, side in sides.items()},
            "splittings": {language: side.stream.text.splitting for language, side in sides.items()},
            "label": self.label,
        }
