"""One language of a model, written as a folder that transformers reads.

The folder is read back with transformers before it appears: its tokenizer must give our ids, its layers our numbers.
"""

# B = sentences, L = positions, N = ids of the exported tokenizer

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from isoglot.corpora.bpe_learning import END_OF_WORD
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import PAD, SPECIALS
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.model.interchange import quiet_transformers
from isoglot.model.interchange.own_model import OwnModel
from isoglot.model.interchange.tokenizer_files import write_tokenizer
from isoglot.model.interchange.transformers_models import roberta_model, xlm_model
from isoglot.model.interchange.word_rules import CUT_BEFOREHAND
from isoglot.study.languages import Splitter
from isoglot.study.scales import NormPlacement

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CARD = "README.md"
TOLERANCE = 1e-5  # largest difference allowed between our numbers and those of the exported model
MOST_OTHERWISE = 0.01  # largest share of texts that the exported tokenizer may cut into other words than ours
SOFTMAX_POSITIONS = 32


@dataclass(frozen=True, kw_only=True)
class Export:
    """The exported class, and how far its numbers are from our model's."""

    architecture: str
    hidden_states: float  # the largest difference
    softmax: float | None  # the same, or None where the softmax could not be exported
    num_texts: int  # short texts that both tokenizers read
    otherwise: tuple[str, ...] = ()  # those of them that the exported one cuts into other words

    @property
    def agreement(self) -> str:
        """A sentence about the texts."""
        num_same = self.num_texts - len(self.otherwise)
        same = f"The tokenizer gave {num_same:,} of {self.num_texts:,} texts the ids of isoglot"
        return (
            f"{same}; others, such as {self.otherwise[0]!r}, it cuts into other words."
            if self.otherwise
            else f"{same}."
        )


def write_export(own: OwnModel, folder: Path, *, card: Callable[[Export], str]) -> Export:
    """Write model, tokenizer and card, all or nothing: `folder` does not appear until they agree with our model."""
    folder = folder.resolve()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        what = "has files in it" if folder.is_dir() else "is a file"
        raise IsoglotError(f"{folder} {what}; an export wants a folder that is not there yet, or an empty one")
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        with quiet_transformers():
            fresh.mkdir(parents=True)
            export = _written(own, fresh)
        (fresh / CARD).write_text(card(export), encoding="utf-8")
        for file in fresh.iterdir():
            file.chmod(fresh.stat().st_mode & 0o666)  # safetensors lets only the owner read its file
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
    write_tokenizer(fresh, names=own.names, bpe=own.bpe, splitting=own.splitting, window=own.window)
    # Every subword of the language, and each joined to the next, which also makes words never seen.
    subwords = [subword.removesuffix(END_OF_WORD) for subword in own.vocabulary.ids(own.language)]
    texts = [text for text in (*subwords, *(a + b for a, b in pairwise(subwords))) if text]
    otherwise = _texts_cut_otherwise(own, fresh, texts=texts)
    if len(otherwise) > MOST_OTHERWISE * len(texts):
        raise _other_cuts(otherwise, texts=texts, what="words")
    theirs = xlm_model(own) if shape.norm is NormPlacement.POST else roberta_model(own)
    theirs.save_pretrained(fresh)
    softmax = _softmax_difference(own, fresh)
    # Not `>`, which is false for nan: a gain of 0 cannot be undone.
    has_softmax = softmax <= TOLERANCE
    if not has_softmax:
        theirs = cast("PreTrainedModel", theirs.base_model)
        theirs.save_pretrained(fresh)
    hidden_states = _hidden_state_difference(own, fresh)
    if not hidden_states <= TOLERANCE:
        raise IsoglotError(
            f"hidden states of the exported model differ from ours by {hidden_states:.1e}, more than {TOLERANCE:.0e}; "
            "nothing was written"
        )
    return Export(
        architecture=type(theirs).__name__,
        hidden_states=hidden_states,
        softmax=softmax if has_softmax else None,
        num_texts=len(texts),
        otherwise=tuple(otherwise),
    )


def _texts_cut_otherwise(own: OwnModel, folder: Path, *, texts: Sequence[str]) -> list[str]:
    """Texts that the exported tokenizer cuts into other words than we do; those with our words must have our ids."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    # The program of a command may be on another machine.
    is_command = own.splitting.splitter is Splitter.COMMAND
    splitting = replace(own.splitting, splitter=Splitter.WHITESPACE) if is_command else own.splitting
    lines = split_lines(texts, splitting)
    given = [" ".join(words) for words in lines] if splitting.splitter in CUT_BEFOREHAND else list(texts)
    theirs = tokenizer(given, split_special_tokens=True)["input_ids"]
    ours = encoded_sentences(lines, language=own.language, bpe=own.bpe, vocabulary=own.vocabulary)
    known = [own.known(torch.tensor(ids)).tolist() for ids in theirs]
    rows = [row for row, sentence in enumerate(ours) if [*sentence.ids] != known[row]]
    steps = tokenizer.backend_tokenizer
    their_words = {
        row: steps.pre_tokenizer.pre_tokenize_str(steps.normalizer.normalize_str(given[row])) for row in rows
    }
    if same_words := [texts[row] for row in rows if [word for word, _ in their_words[row]] == lines[row]]:
        raise _other_cuts(same_words, texts=texts, what="subwords")
    return [texts[row] for row in rows]


def _other_cuts(different: Sequence[str], *, texts: Sequence[str], what: str) -> IsoglotError:
    return IsoglotError(
        f"the tokenizer of transformers cuts {len(different)} of {len(texts)} texts into other {what} than ours, such "
        f"as {different[0]!r}; nothing was written"
    )


@torch.no_grad()
def _hidden_state_difference(own: OwnModel, folder: Path) -> float:
    """The largest difference in any layer, for sentences of several lengths in one padded batch."""
    from transformers import AutoModel

    theirs: Any = AutoModel.from_pretrained(folder, local_files_only=True)
    token_BL = _padded_batch(own)
    real_BL = token_BL.ne(PAD)
    ours = own.model.encoder.hidden_states(own.known(token_BL), language=own.language)
    output = theirs(input_ids=token_BL, attention_mask=real_BL.long(), output_hidden_states=True)
    return max(
        _difference(our_BLD[real_BL], their_BLD[real_BL])
        for our_BLD, their_BLD in zip(ours, output.hidden_states, strict=True)
    )


@torch.no_grad()
def _softmax_difference(own: OwnModel, folder: Path) -> float:
    """The largest difference in the log probability of any token of our table."""
    from transformers import AutoModelForMaskedLM

    theirs: Any = AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True)
    token_BL = _padded_batch(own)[:1, :SOFTMAX_POSITIONS]
    hidden_BLD = own.model.encoder(own.known(token_BL), language=own.language)
    ours_BLV = own.model.logits(hidden_BLD, language=own.language).log_softmax(dim=-1)
    theirs_BLN = theirs(input_ids=token_BL, attention_mask=torch.ones_like(token_BL)).logits.log_softmax(dim=-1)
    return _difference(ours_BLV, theirs_BLN[..., : own.table_size])


def _padded_batch(own: OwnModel) -> Tensor:
    """Random ids of the exported tokenizer, in sentences of up to as many tokens as the model has positions."""
    positions = own.model.encoder.shape.positions
    lengths = sorted({positions, (positions + 1) // 2, min(7, positions), 1}, reverse=True)
    generator = torch.Generator().manual_seed(0)
    token_BL = torch.randint(len(SPECIALS), len(own.names), (len(lengths), positions), generator=generator)
    for row, length in enumerate(lengths):
        token_BL[row, length:] = PAD
    return token_BL


def _difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference; relative to the largest number where that is above 1, as float32 has seven digits."""
    return float((ours - theirs).abs().max() / ours.abs().max().clamp(min=1))
