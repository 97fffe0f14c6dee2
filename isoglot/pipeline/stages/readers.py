"""Models of the store as readers of their languages, and the stages that compare two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model
from isoglot.pipeline.stages.scores import Score
from isoglot.pipeline.stages.translations import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Resources, Stage, Work
from isoglot.study.languages import WordSplitting

if TYPE_CHECKING:
    from isoglot.corpora.sentences import EncodedSentence
    from isoglot.evaluation.geometry.reader import EncoderReader

SENTENCES_CUT = "sentences_cut"
MAPS = "maps.safetensors"  # the maps of every layer, in the folder of a stage that fits them


def opened_reader(path: Callable[[Stage], Path], encoder: AnyEncoder, *, language: str) -> EncoderReader:
    """On this machine's device; `path` gives a stage's folder, as `Work.path` and `Store.verified_folder` do."""
    from isoglot.evaluation.geometry.reader import EncoderReader
    from isoglot.machine import this_machine

    # Words are split and cut into subwords as those of the model's training text were.
    stream = encoder.streams[language]
    return EncoderReader(
        chosen_model(path(encoder)).encoder.to(this_machine().device),
        encoding=stream.encoding(path),
        splitting=stream.text.splitting,
        # Departure: sentences are no longer than the windows of training, as no position beyond was learned.
        most_tokens=encoder.run.window,
    )


@contextmanager
def enough_threads(reader: EncoderReader) -> Iterator[None]:
    """As many threads as the reading of sentences can use."""
    from isoglot.evaluation.geometry.hidden_states import SENTENCES_AT_ONCE
    from isoglot.machine import this_machine

    with this_machine().threads_for(num_activations=SENTENCES_AT_ONCE * reader.most_tokens * reader.width):
        yield


@dataclass(frozen=True, kw_only=True)
class TwoModelStage(Stage):
    """Two languages, each read by its own model; both entries are one stage where one model reads both."""

    languages: tuple[str, str]  # the source first
    encoders: Mapping[str, AnyEncoder]
    vocabularies: Mapping[str, BuiltVocabulary]
    bpe: Mapping[str, LearnedBpe]
    splittings: Mapping[str, WordSplitting]
    label: str = field(metadata=NOT_IDENTITY)

    def resources(self) -> Resources:
        return for_reading(*(encoder.run.shape for encoder in self.encoders.values()))

    @contextmanager
    def readers(self, work: Work) -> Iterator[tuple[EncoderReader, EncoderReader]]:
        source, target = (
            opened_reader(work.path, self.encoders[language], language=language) for language in self.languages
        )
        with enough_threads(source):
            yield source, target


def sentences_cut(languages: tuple[str, str], num_cut: Sequence[int], *, num_lines: int) -> list[Score]:
    """Percent of lines longer than each language's model can read."""
    shares = zip(languages, num_cut, strict=True)
    return [Score(metric=SENTENCES_CUT, language=each, value=100 * count / num_lines) for each, count in shares]


def parallel_sentences(
    work: Work, text: AnyParallelText, readers: Sequence[EncoderReader]
) -> list[list[EncodedSentence]]:
    return [reader.sentences(parallel_lines(work.path(text), reader.language)) for reader in readers]
