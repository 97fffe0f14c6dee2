"""What all stages have that hold one model against another: two languages, each as its own model reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isoglot.pipeline.stages.job_sizes import for_reading
from isoglot.pipeline.stages.models import AnyEncoder
from isoglot.pipeline.stages.scores import Score
from isoglot.pipeline.stages.vocabulary import BuiltVocabulary, LearnedBpe
from isoglot.store import NOT_IDENTITY, Resources, Stage, Work
from isoglot.study.languages import WordSplitting

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.reader import EncoderReader

SENTENCES_CUT = "sentences_cut"
MAPS = "maps.safetensors"
"""Of every layer, in the folder of a stage that fits them."""


@dataclass(frozen=True, kw_only=True)
class TwoModelStage(Stage):
    """Both entries of a mapping are the same stage where one model reads both languages."""

    languages: tuple[str, str]
    """The source first."""
    encoders: Mapping[str, AnyEncoder]
    vocabularies: Mapping[str, BuiltVocabulary]
    bpe: Mapping[str, LearnedBpe]
    splittings: Mapping[str, WordSplitting]
    label: str = field(metadata=NOT_IDENTITY)

    def resources(self) -> Resources:
        return for_reading(*(encoder.run.shape for encoder in self.encoders.values()))

    def sentences_cut(self, num_cut: Sequence[int], *, of: int) -> list[Score]:
        """Percent of so many lines that are longer than the windows of each language's model."""
        return [
            Score(metric=SENTENCES_CUT, language=language, value=100 * count / of)
            for language, count in zip(self.languages, num_cut, strict=True)
        ]

    @contextmanager
    def readers(self, work: Work) -> Iterator[tuple[EncoderReader, EncoderReader]]:
        """Of the source and of the target, on the machine's device and with as many threads as they can use."""
        from isoglot.evaluation.geometry.hidden_states import SENTENCES_AT_ONCE
        from isoglot.machine import this_machine
        from isoglot.pipeline.stages.readers import opened_reader

        source, target = (
            opened_reader(
                work.path,
                encoder=self.encoders[language],
                vocabulary=self.vocabularies[language],
                bpe=self.bpe[language],
                language=language,
                splitting=self.splittings[language],
            )
            for language in self.languages
        )
        typical_tokens = SENTENCES_AT_ONCE * source.most_tokens
        with this_machine().threads_for(num_activations=typical_tokens * source.width):
            yield source, target
