"""The data that a study gives its models: synthetic languages, or files of real ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from isoglot.corpora.words import splitter_version
from isoglot.errors import MissingDataError
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import ExampleFiles, SyntheticExamples
from isoglot.pipeline.stages.source_files import SourceFile, source_file
from isoglot.pipeline.stages.text import AnyText, FileText, HubText, SyntheticText, WikipediaText
from isoglot.pipeline.stages.translations import (
    AnyDictionary,
    DictionaryFile,
    DictionaryPart,
    ParallelFiles,
    SyntheticDictionary,
    SyntheticParallelText,
    SyntheticParaphrases,
)
from isoglot.study.conditions import Domain
from isoglot.study.languages import Splitter, WordSplitting, original
from isoglot.study.real_text import HubDataset, RealText
from isoglot.study.study import Study
from isoglot.study.synthetic_languages import Synthetic

Pair = tuple[str, str]
SPLITS = ("train", "dev", "test")
Given = TypeVar("Given")


@dataclass(frozen=True, kw_only=True)
class SyntheticSources:
    """Synthetic languages, for which nothing is ever missing."""

    settings: Synthetic
    most_words: None = None

    def text(self, language: str, domain: Domain) -> SyntheticText:
        made, own = self.settings, self.settings.language(language)
        return SyntheticText(world=made.world, language=own, domain=domain, sentences=made.sentences)

    def splitting(self, language: str) -> WordSplitting:
        return WordSplitting(splitter=Splitter.WHITESPACE, language=language)

    def parallel(self, languages: Pair) -> SyntheticParallelText:
        """Sentences of the main domain, whatever a model is trained on."""
        made, own = self.settings, tuple(map(self.settings.language, languages))
        texts = tuple(self.text(language, Domain.MAIN) for language in languages)
        return SyntheticParallelText(world=made.world, languages=own, texts=texts, sentences=made.parallel_sentences)

    def dictionary(self, languages: Pair) -> SyntheticDictionary:
        source, target = map(self.settings.language, languages)
        return SyntheticDictionary(world=self.settings.world, languages=(source, target))

    word_translation = dictionary

    def held_out_words(self, languages: Pair) -> tuple[AnyDictionary, ...]:  # noqa: ARG002
        return ()  # the only dictionary there is serves both

    def mapping(self, languages: Pair) -> SyntheticParallelText | SyntheticParaphrases:
        source, target = languages
        world, sentences = self.settings.world, self.settings.mapping_sentences
        if original(target) == source:
            own, text = self.settings.language(source), self.text(source, Domain.MAIN)
            return SyntheticParaphrases(world=world, language=own, text=text, sentences=sentences)
        retrieval = self.parallel(languages)
        return replace(retrieval, purpose="mapping", apart_from=(retrieval,), sentences=sentences)

    def word_mapping(self, languages: Pair) -> tuple[DictionaryPart, DictionaryPart]:
        seed = self.settings.world.seed
        fit = DictionaryPart(dictionary=self.dictionary(languages), is_for_fitting=True, seed=seed)
        return fit, replace(fit, is_for_fitting=False)

    def word_vectors(self, language: str) -> None:  # noqa: ARG002
        return  # these languages have no vectors but those that are trained here

    def examples(self, task: str, *, language: str, split: str, pair: Pair) -> SyntheticExamples:
        earlier_splits = SPLITS[: SPLITS.index(split)]
        return SyntheticExamples(
            task=task,
            task_version=task_named(task).version,
            world=self.settings.world,
            language=self.settings.language(language),
            split=split,
            count=getattr(self.settings, f"{split}_examples"),
            apart_from=tuple(self.examples(task, language=pair[0], split=other, pair=pair) for other in earlier_splits),
        )


# Methods raise MissingDataError for what the study does not give, or what is not where it says.
@dataclass(frozen=True, kw_only=True)
class FileSources:
    """Files of real languages."""

    real: RealText
    wanted_by: str

    @property
    def most_words(self) -> int | None:
        return self.real.most_words

    def text(self, language: str, domain: Domain) -> AnyText:
        source = self.real.source(language, domain)
        if isinstance(source, HubDataset):
            return HubText(dataset=source)
        files = self._files(source.paths)
        return WikipediaText(dumps=files) if source.is_wikipedia else FileText(files=files)

    def splitting(self, language: str) -> WordSplitting:
        return self.real.splittings[language]

    def parallel(self, languages: Pair) -> ParallelFiles:
        """Sentences to score retrieval by."""
        return ParallelFiles(files=self._files(self.real.resource("retrieval", *languages)), languages=languages)

    def dictionary(self, languages: Pair, *, kind: str = "dictionary") -> DictionaryFile:
        """Words to make extra anchors of, or of another kind."""
        (file,) = self._files(self.real.resource(kind, *languages))
        return DictionaryFile(file=file, languages=languages)

    def word_translation(self, languages: Pair) -> DictionaryFile:
        return self.dictionary(languages, kind="word-translation")

    def held_out_words(self, languages: Pair) -> tuple[DictionaryFile, ...]:
        """Dictionaries of which no extra anchors may be made."""
        # One that is named but not there is missing: without it the words that are asked for would be trained on.
        return (self.word_translation(languages),) if self.real.names("word-translation", *languages) else ()

    def mapping(self, languages: Pair) -> ParallelFiles:
        """Sentences to fit maps on and to compare models by; paraphrases for a language and its second model."""
        source, target = languages
        kind, *owners = ("paraphrase", source) if original(target) == source else ("mapping", source, target)
        return ParallelFiles(files=self._files(self.real.resource(kind, *owners)), languages=languages)

    def word_mapping(self, languages: Pair) -> tuple[DictionaryFile, DictionaryFile]:
        """Words to fit maps on, and words to score them by."""
        return self.dictionary(languages, kind="word-mapping"), self.word_translation(languages)

    def word_vectors(self, language: str) -> SourceFile | None:
        """Vectors that the user has; None where the study names none for any language."""
        # A file that is named and missing is an error: other vectors must not take its place.
        if not any(key.startswith("vectors.") for key in self.real.resources):
            return None
        (file,) = self._files(self.real.resource("vectors", language))
        return file

    def examples(self, task: str, *, language: str, split: str, pair: Pair) -> ExampleFiles:
        splitting = self.splitting(language)
        return ExampleFiles(
            task=task,
            task_version=task_named(task).version,
            split=split,
            files=self._files(self.real.task_files(task, language=language, split=split, pair=pair)),
            splitting=splitting,
            splitter_version=splitter_version(splitting),
        )

    def _files(self, paths: tuple[Path, ...]) -> tuple[SourceFile, ...]:
        # Every file is hashed once for a study, however many stages read it.
        known = self.real.known_files
        for path in paths:
            if path not in known:
                known[path] = source_file(path, wanted_by=self.wanted_by)
        return tuple(known[path] for path in paths)


Sources = SyntheticSources | FileSources


def sources(study: Study) -> Sources:
    if isinstance(study.text, Synthetic):
        return SyntheticSources(settings=study.text)
    return FileSources(real=study.text, wanted_by=study.origin)


def if_given(resource: Callable[[], Given]) -> Given | None:
    """A resource, or None where the study lacks it and can do without."""
    try:
        return resource()
    except MissingDataError:
        return None
