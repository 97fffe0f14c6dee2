"""One language of one of our models, written as a folder that transformers reads, and checked before it is there."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from isoglot.errors import IsoglotError
from isoglot.model.interchange import quiet_transformers
from isoglot.model.interchange.agreement import (
    TOLERANCE,
    hidden_state_difference,
    softmax_difference,
    words_cut_otherwise,
    words_of_the_table,
)
from isoglot.model.interchange.own_model import OwnModel
from isoglot.model.interchange.roberta_model import roberta_model
from isoglot.model.interchange.tokenizer_files import write_tokenizer
from isoglot.model.interchange.xlm_model import xlm_model
from isoglot.study.scales import NormPlacement

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CARD = "README.md"


@dataclass(frozen=True, kw_only=True)
class Export:
    """What was written, and how well it agrees with our model."""

    architecture: str
    hidden_states: float
    """The largest difference."""
    softmax: float | None
    """The largest difference, or None where the softmax did not come along."""
    num_words: int
    """That the tokenizers cut alike."""


def write_export(own: OwnModel, folder: Path, *, card: Callable[[Export], str]) -> Export:
    """Write model, tokenizer and card, all or nothing: `folder` is not there until they agree with our model."""
    folder = folder.resolve()
    _refuse_what_is_there(folder)
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        with quiet_transformers():
            fresh.mkdir(parents=True)
            export = _written(own, fresh)
        (fresh / CARD).write_text(card(export), encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        fresh.rename(folder)
    except OSError as error:
        raise IsoglotError(f"{folder}: cannot be written ({error}); name another folder with --to") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return export


def _written(own: OwnModel, fresh: Path) -> Export:
    shape = own.model.encoder.shape
    write_tokenizer(fresh, names=own.names, bpe=own.bpe, lowercase=own.splitting.lowercase, positions=shape.positions)
    words = words_of_the_table(own)
    if otherwise := words_cut_otherwise(own, fresh, words=words):
        raise IsoglotError(
            f"the tokenizer of transformers cuts {len(otherwise)} of {len(words)} words otherwise than ours, such as "
            f"{otherwise[0]!r}; nothing was written"
        )
    theirs = xlm_model(own) if shape.norm is NormPlacement.POST else roberta_model(own)
    theirs.save_pretrained(fresh)
    softmax = softmax_difference(own, fresh)
    # Not `>`, which is false for what is no number: a gain of 0 cannot be undone.
    has_softmax = softmax <= TOLERANCE
    if not has_softmax:
        theirs = cast("PreTrainedModel", theirs.base_model)
        theirs.save_pretrained(fresh)
    hidden_states = hidden_state_difference(own, fresh)
    if not hidden_states <= TOLERANCE:
        raise IsoglotError(
            f"hidden states of the exported model differ from ours by {hidden_states:.1e}, more than {TOLERANCE:.0e}; "
            "nothing was written"
        )
    return Export(
        architecture=type(theirs).__name__,
        hidden_states=hidden_states,
        softmax=softmax if has_softmax else None,
        num_words=len(words),
    )


def _refuse_what_is_there(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists():
        what = "has files in it" if folder.is_dir() else "is a file"
        raise IsoglotError(f"{folder} {what}; an export wants a folder that is not there yet, or an empty one")
