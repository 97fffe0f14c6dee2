"""From a study's words to its stages: what must be made for one model of one condition."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from isoglot.corpora.words import splitter_version
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.task import Recipe
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.sources import Sources, if_given, sources
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.pipeline.stages.fine_tuning import FineTuning, ZeroShotTransfer
from isoglot.pipeline.stages.models import AnyEncoder, EncoderAtMoment, PretrainedEncoder, UntrainedEncoder
from isoglot.pipeline.stages.text import SplitText
from isoglot.pipeline.stages.vocabulary import (
    BuiltVocabulary,
    LearnedBpe,
    SwitchableTrainingText,
    TokenStreams,
    VocabularyStatistics,
)
from isoglot.pretraining.run import PretrainingRun
from isoglot.randomness import derived_seed
from isoglot.study.conditions import AnchorOrder, Anchors, Condition, Domain, Segmentation
from isoglot.study.languages import original
from isoglot.study.searches import Search
from isoglot.study.study import Study


@dataclass(frozen=True, kw_only=True)
class ModelGraph:
    """One model: its languages under a condition, with a seed. Equal parts of two graphs are equal stages."""

    study: Study
    condition: Condition
    languages: tuple[str, ...]  # two, the source first; or one, for a model to be compared with others (section 5)
    seed: int

    @property
    def label(self) -> str:
        return f"{self.condition.name}, {'-'.join(self.languages)}, seed {self.seed}"

    @property
    def pair(self) -> tuple[str, str]:
        source, target = self.languages
        return source, target

    @cached_property
    def sources(self) -> Sources:
        return sources(self.study)

    def text(self, language: str, *, domain: Domain) -> SplitText:
        """Words of one language, the same stage wherever they are used."""
        language = original(language)
        splitting = self.sources.splitting(language)
        return SplitText(
            language=language,
            text=self.sources.text(language, domain),
            splitting=splitting,
            splitter_version=splitter_version(splitting),
            dev_lines=self.study.scale.dev_lines,
            test_lines=self.study.scale.test_lines,
            most_words=self.sources.most_words,
            # A second domain must not help or harm by its size (section 4.1).
            no_larger_than=None if domain is Domain.MAIN else self.text(language, domain=Domain.MAIN),
        )

    @cached_property
    def texts(self) -> dict[str, SplitText]:
        """The text the model is trained on: only the target's domain varies (section 4.1)."""
        source, *targets = self.languages
        texts = {source: self.text(source, domain=Domain.MAIN)}
        return texts | {target: self.text(target, domain=self.condition.target_domain) for target in targets}

    @property
    def main_texts(self) -> dict[str, SplitText]:
        """Text of the main domain, in which words are met."""
        return {language: self.text(language, domain=Domain.MAIN) for language in self.languages}

    @cached_property
    def bpe(self) -> dict[str, LearnedBpe]:
        """One for all, or for each its share of the merges (section 4.2)."""
        merges = self.study.scale.merges
        if self.condition.segmentation is Segmentation.JOINT:
            return dict.fromkeys(self.languages, LearnedBpe(texts=tuple(self.texts.values()), merges=merges))
        # Departure: a model of one language has as many merges as that language has in a model of two, hence half.
        return {language: LearnedBpe(texts=(text,), merges=merges // 2) for language, text in self.texts.items()}

    @cached_property
    def vocabulary(self) -> BuiltVocabulary:
        kept = self.condition.kept_anchors
        # Models of other seeds keep other anchors, where these are drawn at random.
        if kept is not None and kept.order is AnchorOrder.RANDOM:
            kept = replace(kept, seed=self.seed)
        return BuiltVocabulary(tables=self.condition.tables, texts=self.texts, bpe=self.bpe, kept_anchors=kept)

    @cached_property
    def streams(self) -> dict[str, TokenStreams]:
        return {
            language: TokenStreams(language=language, text=text, bpe=self.bpe[language], vocabulary=self.vocabulary)
            for language, text in self.texts.items()
        }

    @cached_property
    def switchable(self) -> dict[str, SwitchableTrainingText]:
        """Switchable text of every language for extra anchors, of none otherwise (section 4.2)."""
        if self.condition.anchors is not Anchors.EXTRA:
            return {}
        return {
            language: SwitchableTrainingText(
                language=language,
                text=text,
                bpe=self.bpe,
                vocabulary=self.vocabulary,
                dictionaries=(self.sources.dictionary(self.pair),),
                held_out=self.sources.held_out_words(self.pair),
                splittings={each: self.sources.splitting(each) for each in self.languages},
            )
            for language, text in self.texts.items()
        }

    @cached_property
    def vocabulary_statistics(self) -> VocabularyStatistics:
        return VocabularyStatistics(
            languages=self.pair,
            vocabulary=self.vocabulary,
            texts=self.texts,
            bpe=self.bpe,
            streams=self.streams,
            switchable=self.switchable,
        )

    @cached_property
    def run(self) -> PretrainingRun:
        # Models of one language each start apart: with equal weights they would be alike from the beginning.
        seed = self.seed if len(self.languages) > 1 else derived_seed(self.seed, *self.languages)
        return PretrainingRun.of(self.condition, scale=self.study.scale, languages=self.languages, seed=seed)

    @cached_property
    def pretrained(self) -> PretrainedEncoder:
        return PretrainedEncoder(run=self.run, streams=self.streams, switchable=self.switchable, label=self.label)

    @cached_property
    def untrained(self) -> UntrainedEncoder:
        # Two biases start as one, and nothing is read through a softmax here: such rows have a floor in common.
        run = replace(self.run, separate=replace(self.run.separate, output_bias=False))
        return UntrainedEncoder(run=run, streams=self.streams, label=self.label)

    @property
    def at_moments(self) -> list[EncoderAtMoment]:
        """The model at the moments of its training before the last, which is the pretrained model."""
        return [EncoderAtMoment(encoder=self.pretrained, update=update) for update in self.run.kept_updates]

    def emergence(self, encoder: AnyEncoder) -> Emergence:
        """Scores of an encoder, on the main domain whatever it was trained on."""
        return Emergence(
            encoder=encoder,
            languages=self.pair,
            vocabulary=self.vocabulary,
            bpe=self.bpe,
            parallel=self.sources.parallel(self.pair),
            dictionary=if_given(lambda: self.sources.word_translation(self.pair)),
            texts=self.main_texts,
        )

    def transfer(self, task: str, encoder: AnyEncoder, *, freeze_encoder: bool = False) -> ZeroShotTransfer:
        """An encoder fine-tuned on a task in the source language under every setting, and tested in both."""
        test = partial(self.sources.examples, task, split="test", pair=self.pair)
        tests = {language: test(language=language) for language in self.pair}
        untrained = "untrained " if isinstance(encoder, UntrainedEncoder) else ""
        moment = f", update {encoder.update}" if isinstance(encoder, EncoderAtMoment) else ""
        label = f"{'frozen ' if freeze_encoder else ''}{untrained}{self.label}{moment}"
        # The paper has one search for the tasks that label words and one for those that label pairs (section 3.2).
        scale = self.study.scale
        search = scale.pair_tasks if task_named(task).recipe is Recipe.PAIRS else scale.word_tasks
        trainings = self.trainings(task, encoder, search=search, pair=self.pair, freeze_encoder=freeze_encoder)
        runs = tuple(FineTuning(**each, bpe=self.bpe, tests=tests, label=label) for each in trainings)
        return ZeroShotTransfer(task=task, runs=runs, label=label)

    def trainings(
        self, task: str, encoder: AnyEncoder, *, search: Search, pair: tuple[str, str], freeze_encoder: bool = False
    ) -> Iterator[dict[str, Any]]:
        """The fields of TaskTraining for every setting of a search, on the source language of a pair."""
        examples = partial(self.sources.examples, task, language=pair[0], pair=pair)
        train, dev = examples(split="train"), examples(split="dev")
        for batch, rate, head_rate in search.settings():
            run = FineTuningRun(
                batch=batch,
                learning_rate=rate,
                head_learning_rate=head_rate,
                language=self.languages[0],
                epochs=search.epochs,
                epoch_examples=search.epoch_examples,
                schedule=search.schedule,
                warmup_share=search.warmup_share,
                beta2=search.beta2,
                most_tokens=self.study.scale.window,
                freeze_encoder=freeze_encoder,
                seed=self.seed,
                normed=self.study.scale.task_norm,
            )
            yield {
                "task": task,
                "task_version": task_named(task).version,
                "run": run,
                "encoder": encoder,
                "vocabulary": self.vocabulary,
                "train": train,
                "dev": dev,
            }
