"""Does what was exported do the same as our model? Read back from its folder, as anybody would read it."""

# B = sentences, L = positions, N = ids of the exported tokenizer

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from isoglot.corpora.bpe_learning import END_OF_WORD
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import PAD, SPECIALS, UNK
from isoglot.model.interchange.own_model import OwnModel

TOLERANCE = 1e-5
SOFTMAX_POSITIONS = 32


@torch.no_grad()
def hidden_state_difference(own: OwnModel, folder: Path) -> float:
    """The largest of any layer, at sentences of several lengths in one padded batch."""
    from transformers import AutoModel

    theirs: Any = AutoModel.from_pretrained(folder, local_files_only=True)
    token_BL = _padded_batch(own)
    real_BL = token_BL.ne(PAD)
    ours = own.model.encoder.hidden_states(_in_own_table(own, token_BL), language=own.language)
    output = theirs(input_ids=token_BL, attention_mask=real_BL.long(), output_hidden_states=True)
    return max(
        _difference(our_BLD[real_BL], their_BLD[real_BL])
        for our_BLD, their_BLD in zip(ours, output.hidden_states, strict=True)
    )


@torch.no_grad()
def softmax_difference(own: OwnModel, folder: Path) -> float:
    """The largest of any token of our table."""
    from transformers import AutoModelForMaskedLM

    theirs: Any = AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True)
    token_BL = _padded_batch(own)[:1, :SOFTMAX_POSITIONS]
    hidden_BLD = own.model.encoder(_in_own_table(own, token_BL), language=own.language)
    ours_BLV = own.model.logits(hidden_BLD, language=own.language).log_softmax(dim=-1)
    theirs_BLN = theirs(input_ids=token_BL, attention_mask=torch.ones_like(token_BL)).logits.log_softmax(dim=-1)
    return _difference(ours_BLV, theirs_BLN[..., : own.table_size])


def words_cut_otherwise(own: OwnModel, folder: Path, *, words: Sequence[str]) -> list[str]:
    """Those that the exported tokenizer gives other ids than ours."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    theirs = tokenizer(list(words), split_special_tokens=True)["input_ids"]
    lines = [word.split() for word in words]
    ours = encoded_sentences(lines, language=own.language, bpe=own.bpe, vocabulary=own.vocabulary)
    return [
        word
        for word, sentence, ids in zip(words, ours, theirs, strict=True)
        if list(sentence.ids) != own_ids(ids, own=own)
    ]


def own_ids(ids: Iterable[int], *, own: OwnModel) -> list[int]:
    """Ids of the exported tokenizer as the model means them: those after its own table are the unknown symbol."""
    return [id if id < own.table_size else UNK for id in ids]


def words_of_the_table(own: OwnModel) -> list[str]:
    """Every subword of the language as a word, and each with the next, which also makes words never seen."""
    subwords = [subword.removesuffix(END_OF_WORD) for subword in own.vocabulary.ids(own.language)]
    return [word for word in (*subwords, *(a + b for a, b in pairwise(subwords))) if word]


def _padded_batch(own: OwnModel) -> Tensor:
    """Random ids, those of the exported tokenizer alone among them, of sentences up to the longest there can be."""
    positions = own.model.encoder.shape.positions
    lengths = sorted({positions, (positions + 1) // 2, min(7, positions), 1}, reverse=True)
    generator = torch.Generator().manual_seed(0)
    token_BL = torch.randint(len(SPECIALS), len(own.names), (len(lengths), positions), generator=generator)
    for row, length in enumerate(lengths):
        token_BL[row, length:] = PAD
    return token_BL


def _in_own_table(own: OwnModel, token_BL: Tensor) -> Tensor:
    return token_BL.where(token_BL < own.table_size, UNK)


def _difference(ours: Tensor, theirs: Tensor) -> float:
    """Of the largest number, where that is above 1: float32 has no more than seven digits."""
    return float((ours - theirs).abs().max() / ours.abs().max().clamp(min=1))
