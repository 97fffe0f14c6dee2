"""A model of the store as a reader of one of its languages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.pipeline.stages.models import AnyEncoder, chosen_model
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe
from isoglot.store import Stage
from isoglot.study.languages import WordSplitting

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.reader import EncoderReader


def opened_reader(
    path: Callable[[Stage], Path],
    *,
    encoder: AnyEncoder,
    vocabulary: BuiltVocabulary,
    bpe: LearnedBpe,
    language: str,
    splitting: WordSplitting,
) -> EncoderReader:
    """On this machine's device; `path` gives the folder of each stage, as `Work.path` and `Store.folder` do."""
    from isoglot.evaluation.geometry.reader import EncoderReader
    from isoglot.machine import this_machine

    return EncoderReader(
        chosen_model(path(encoder)).encoder.to(this_machine().device),
        language=language,
        bpe=Bpe.read(path(bpe) / MERGES),
        vocabulary=Vocabulary.read(path(vocabulary) / VOCABULARY),
        splitting=splitting,
        # Departure: sentences are no longer than the windows of training, as no position beyond was learned.
        most_tokens=encoder.run.window,
    )
