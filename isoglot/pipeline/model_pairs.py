"""Two languages, each as a model reads it: one model of both, or two that never heard of each other (section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError, MissingDataError
from isoglot.evaluation.geometry.word_alignment import aligner_version
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.sources import Sources
from isoglot.pipeline.stages.contextual_maps import ContextualMaps, WordAlignments
from isoglot.pipeline.stages.emergence import StructureOverTraining
from isoglot.pipeline.stages.layer_transfer import LayerHead, LayerTransfer
from isoglot.pipeline.stages.models import AnyEncoder
from isoglot.pipeline.stages.sentence_alignment import SentenceAlignment, Similarity
from isoglot.pipeline.stages.translations import AnyParallelText
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.pipeline.stages.word_level_alignment import (
    AnyWordVectors,
    FastTextVectors,
    WordLevelAlignment,
    WordVectorFile,
)
from isoglot.study.conditions import MONOLINGUAL, Condition
from isoglot.study.languages import WordSplitting, original
from isoglot.study.searches import Alignment
from isoglot.study.study import Study


@dataclass(frozen=True, kw_only=True)
class Side:
    """One language as one model reads it."""

    graph: ModelGraph
    encoder: AnyEncoder
    language: str

    @property
    def vocabulary(self) -> BuiltVocabulary:
        return self.graph.vocabulary

    @property
    def bpe(self) -> LearnedBpe:
        return self.graph.bpe[self.language]

    @property
    def splitting(self) -> WordSplitting:
        return self.graph.sources.splitting(original(self.language))


class _BothSides(TypedDict):
    """The fields of TwoModelStage."""

    languages: tuple[str, str]
    encoders: dict[str, AnyEncoder]
    vocabularies: dict[str, BuiltVocabulary]
    bpe: dict[str, LearnedBpe]
    splittings: dict[str, WordSplitting]
    label: str


@dataclass(frozen=True, kw_only=True)
class ModelPair:
    """Two languages as the figures compare them."""

    source: Side
    target: Side
    label: str
    """For people."""

    @classmethod
    def monolingual(
        cls, study: Study, languages: tuple[str, str], *, seed: int, is_target_trained: bool = True
    ) -> ModelPair:
        """Models of one language each; the target's may be one that was never trained (Figure 7's random encoder)."""
        own, other = (
            ModelGraph(study=study, condition=MONOLINGUAL, languages=(language,), seed=seed) for language in languages
        )
        source, target = languages
        untrained = "" if is_target_trained else "untrained "
        return cls(
            source=Side(graph=own, encoder=own.pretrained, language=source),
            target=Side(
                graph=other, encoder=other.pretrained if is_target_trained else other.untrained, language=target
            ),
            label=f"{MONOLINGUAL.name} {source} and {untrained}{target}, seed {seed}",
        )

    @classmethod
    def bilingual(cls, study: Study, condition: Condition, languages: tuple[str, str], *, seed: int) -> ModelPair:
        """One model of both."""
        graph = ModelGraph(study=study, condition=condition, languages=languages, seed=seed)
        own, other = (Side(graph=graph, encoder=graph.pretrained, language=language) for language in languages)
        return cls(source=own, target=other, label=graph.label)

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
        """Scores of one model of both, by those of the two texts that there are."""
        return StructureOverTraining(
            **self._both(),
            retrieval=_if_given(self._sources.parallel, self.languages),
            similarity=_if_given(self._sources.mapping, self.languages),
        )

    def word_level_alignment(self) -> WordLevelAlignment:
        """Figure 4."""
        alignment = self._alignment
        fit, test = self._sources.word_mapping(self.languages)
        sides = (self.source, self.target)
        return WordLevelAlignment(
            **self._both(),
            texts={side.language: side.graph.texts[side.language] for side in sides},
            fit=fit,
            test=test,
            vectors={side.language: self._word_vectors(side) for side in sides} if alignment.has_fasttext else {},
            rounds=alignment.rounds,
            word_sentences=alignment.word_sentences,
            most_words=alignment.most_words,
        )

    def _word_vectors(self, side: Side) -> AnyWordVectors:
        """Vectors that the study names, or else trained on the text of the model."""
        alignment, file = self._alignment, self._sources.word_vectors(side.language)
        if file is not None:
            return WordVectorFile(file=file, most_words=alignment.most_words)
        return FastTextVectors(
            text=side.graph.texts[side.language], training=alignment.fasttext, most_words=alignment.most_words
        )

    def contextual_maps(self) -> ContextualMaps:
        """From words of the target to those of the source, in context."""
        alignment, parallel = self._alignment, self._sources.mapping(self.languages)
        both = self._both()
        links = WordAlignments(
            parallel=parallel,
            languages=self.languages,
            splittings=both["splittings"],
            splitter_versions={name: splitter_version(each) for name, each in both["splittings"].items()},
            aligner=alignment.aligner,
            aligner_version=_version_of(alignment.aligner),
        )
        return ContextualMaps(
            **both, parallel=parallel, links=links, subwords=alignment.subwords, rounds=alignment.rounds
        )

    def layer_transfer(self, task: str, *, layer: int, is_mapped: bool) -> LayerTransfer:
        """One point of Figure 5, or of Figure 8."""
        source, target = self.languages
        alignment, sources = self._alignment, self._sources
        train, dev, own_test = (
            sources.examples(task, language=source, split=split, pair=self.languages)
            for split in ("train", "dev", "test")
        )
        search = alignment.layer_tasks
        heads = tuple(
            LayerHead(
                task=task,
                task_version=task_named(task).version,
                run=FineTuningRun.of(
                    setting,
                    search=search,
                    language=source,
                    most_tokens=self.source.graph.study.scale.window,
                    seed=self.source.graph.seed,
                ),
                layer=layer,
                new_layers=alignment.new_layers,
                encoder=self.source.encoder,
                vocabulary=self.source.vocabulary,
                bpe=self.source.bpe,
                train=train,
                dev=dev,
                test=own_test,
                label=self.source.graph.label,
            )
            for setting in search.settings()
        )
        return LayerTransfer(
            heads=heads,
            language=target,
            encoder=self.target.encoder,
            vocabulary=self.target.vocabulary,
            bpe=self.target.bpe,
            test=sources.examples(task, language=target, split="test", pair=self.languages),
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

    def _both(self) -> _BothSides:
        sides = (self.source, self.target)
        return _BothSides(
            languages=self.languages,
            encoders={side.language: side.encoder for side in sides},
            vocabularies={side.language: side.vocabulary for side in sides},
            bpe={side.language: side.bpe for side in sides},
            splittings={side.language: side.splitting for side in sides},
            label=self.label,
        )


def _if_given(text: Callable[[tuple[str, str]], AnyParallelText], languages: tuple[str, str]) -> AnyParallelText | None:
    try:
        return text(languages)
    except MissingDataError:
        return None


def _version_of(aligner: tuple[str, ...]) -> str:
    """A program that is not there leaves cells empty, as a file would."""
    try:
        return aligner_version(aligner) if aligner else ""
    except IsoglotError as error:
        raise MissingDataError(f"alignment.aligner: {error}") from error
