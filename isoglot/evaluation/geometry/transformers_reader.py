"""Models of Hugging Face as readers: any encoder of text, by its name on the hub or from a folder."""

# B = sentences of a batch, L = positions, V = tokens of the table, D = width

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path
from textwrap import shorten
from typing import Any, Self

import torch
from torch import Tensor, nn

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.reader import Reader
from isoglot.model.interchange import quiet_transformers
from isoglot.model.interchange.tokenizer_files import SPLITTER
from isoglot.study.languages import Splitter, default_splitting

# Characters of the library's error message, which may go on for a page.
LONGEST_COMPLAINT = 300
# The limit of a model that has neither a table of positions nor a tokenizer with a limit.
MOST_TOKENS = 512
PROBE, PADDING = "a b c", 5
PADDING_TOLERANCE = 1e-3


class TransformersReader(Reader):
    """A model in evaluation mode, on its device, and its tokenizer, which must be a fast one."""

    network: Any

    def __init__(self, model: nn.Module, *, tokenizer: Any, name: str):
        self.network, self.tokenizer, self.name = model.eval(), tokenizer, name
        # Any id will do where there is no such symbol, as it is masked.
        self.pad_id, self.unknown_id = tokenizer.pad_token_id or 0, tokenizer.unk_token_id
        # The splitter of the words of a model that we exported; None of any other.
        self.splitter = tokenizer.init_kwargs.get(SPLITTER)
        self.most_tokens = _most_tokens(model, tokenizer)
        self.num_states, self.width = self._checked_states()

    def untrained(self, *, seed: int) -> Self:
        with torch.random.fork_rng(devices=[]), quiet_transformers():
            torch.manual_seed(seed)
            # A model of transformers draws its weights when it is made.
            model = type(self.network)(self.network.config)
        name = f"{self.name}, random weights"
        return type(self)(model.to(self.device), tokenizer=self.tokenizer, name=name)

    @property
    def token_table_VD(self) -> Tensor | None:
        table = self.network.get_input_embeddings()
        return table.weight.detach() if isinstance(table, nn.Embedding) else None

    def whole_sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        if self.splitter is None:
            # White space would otherwise be words of some tokenizers.
            lines = [" ".join(line.split()) for line in lines]
        elif self.splitter == Splitter.JIEBA:
            lines = [" ".join(words) for words in split_lines(lines, default_splitting("zh"))]
        if not lines:
            return []
        encoded = self.tokenizer(
            list(lines), return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False
        )
        return [self._sentence(line, encoded, row=row) for row, line in enumerate(lines)]

    def _sentence(self, line: str, encoded: Any, *, row: int) -> EncodedSentence:
        """Words are those of the tokenizer, cut at white space where it does not do that itself."""
        ids, offsets = encoded["input_ids"][row], encoded["offset_mapping"][row]
        # Which stretch between spaces each character and the end is in; a space belongs to the next one.
        # Our own rules may join what white space parts: 10 000 with a no-break space is one word of French.
        stretch_of = list(accumulate(self.splitter is None and each.isspace() for each in f"{line}."))
        tokens = zip(offsets, encoded["special_tokens_mask"][row], encoded.word_ids(row), strict=True)
        keys = [None if special else (word, stretch_of[start]) for (start, _), special, word in tokens]
        words: list[str] = []
        word_of: list[int] = []
        for key, group in groupby(range(len(ids)), key=keys.__getitem__):
            places = list(group)
            word_of += [NO_WORD if key is None else len(words)] * len(places)
            if key is not None:
                words.append(line[offsets[places[0]][0] : offsets[places[-1]][1]].strip())
        return EncodedSentence(words=tuple(words), ids=tuple(ids), word_of=tuple(word_of))

    def pieces(self, sentence: EncodedSentence) -> Iterator[EncodedSentence]:
        """Each between the special symbols that the tokenizer puts around the whole."""
        places = [place for place, word in enumerate(sentence.word_of) if word != NO_WORD]
        if self.fits(sentence) or not places:
            yield sentence
            return
        first, end = places[0], places[-1] + 1
        before, after = sentence.ids[:first], sentence.ids[end:]
        # Cut with one symbol at either end, as our own encoders have it.
        ids = (self.pad_id, *sentence.ids[first:end], self.pad_id)
        inside = replace(sentence, ids=ids, word_of=(NO_WORD, *sentence.word_of[first:end], NO_WORD))
        for piece in inside.pieces(most_tokens=self.most_tokens - len(before) - len(after) + 2):
            word_of = (*[NO_WORD] * len(before), *piece.word_of[1:-1], *[NO_WORD] * len(after))
            yield replace(piece, ids=(*before, *piece.ids[1:-1], *after), word_of=word_of)

    @torch.no_grad()
    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        output = self.network(
            input_ids=token_BL.masked_fill(~real_BL, self.pad_id),
            attention_mask=real_BL.long(),
            output_hidden_states=True,
            return_dict=True,
        )
        # Models with a norm above the last layer may leave it out of their hidden states.
        return [*output.hidden_states[:-1], output.last_hidden_state]

    def _checked_states(self) -> tuple[int, int]:
        """The number and the width of states; those of a short sentence must be the same with padding and without."""
        (sentence,) = self.whole_sentences([PROBE])
        if not sentence.ids:
            raise IsoglotError(f"{self.name}: its tokenizer makes no tokens of {PROBE!r}; is its vocabulary empty?")
        kind, length = type(self.network).__name__, len(sentence.ids)
        token_BL = torch.tensor([[*sentence.ids, *[self.pad_id] * PADDING]], device=self.device)
        real_BL = torch.arange(length + PADDING, device=self.device)[None] < length
        try:
            states = self.states(token_BL[:, :length], real_BL=real_BL[:, :length])
            in_padding = [state_BLD[:, :length] for state_BLD in self.states(token_BL, real_BL=real_BL)]
            shapes = {tuple(state_BLD.shape) for state_BLD in states}
        # A model of images, say, fails in a way of its own.
        except Exception as error:
            problem = f"{self.name}: {kind} does not give hidden states of text ({_shortened(error)})"
            fix = "name an encoder such as bert-base-multilingual-cased or xlm-roberta-base"
            raise IsoglotError(f"{problem}; {fix}") from error
        if shapes != {(1, length, states[-1].shape[-1])}:
            problem = f"{self.name}: the hidden states of {kind} are not all of one width with one for each token"
            raise IsoglotError(f"{problem}; take a model whose layers are alike")
        are_close = partial(torch.allclose, rtol=PADDING_TOLERANCE, atol=PADDING_TOLERANCE, equal_nan=True)
        if not all(map(are_close, states, in_padding)):
            found = f"padding changes the hidden states of {kind}, so that a line's vector would depend on its batch"
            raise IsoglotError(f"{self.name}: {found}; take a model that heeds the attention mask")
        return len(states), states[-1].shape[-1]


@quiet_transformers()
def read_transformers(name: str | Path, *, device: torch.device) -> TransformersReader:
    """An encoder in float32; an encoder-decoder gives its encoder; a decoder gives its states as they are."""
    from transformers import AutoModel, AutoTokenizer

    # Failures reach us as the errors of half a dozen libraries: HTTP, JSON, safetensors, pickle, tokenizers.
    try:
        model, loading = AutoModel.from_pretrained(name, dtype=torch.float32, output_loading_info=True)
    except Exception as error:
        raise IsoglotError(
            f"{name}: no Hugging Face model can be read ({_shortened(error)}); give a folder with the config.json and "
            "model.safetensors that save_pretrained writes, or a name of https://huggingface.co, for which the network "
            "is needed and HF_HUB_OFFLINE must not be set"
        ) from error
    try:
        # A line that spells out "[SEP]" has no special symbol in it.
        tokenizer = AutoTokenizer.from_pretrained(name, split_special_tokens=True)
    except Exception as error:
        problem = f"{name}: no tokenizer can be read ({_shortened(error)})"
        raise IsoglotError(f"{problem}; add it with tokenizer.save_pretrained") from error
    # By its parts, as a configuration may have forgotten that the model is of two.
    encoder = model.get_encoder() if hasattr(model, "encoder") and hasattr(model, "decoder") else model
    # A layer that is not in the file would stay random; the pooler is not used.
    weights, own = dict(model.named_parameters()), {id(weight) for weight in encoder.parameters()}
    missing = sorted(key for key in loading["missing_keys"] if key in weights and "pooler" not in key)
    if random := [key for key in missing if id(weights[key]) in own]:
        parts = f"{len(random)} parts of {type(model).__name__}, such as {random[0]}"
        raise IsoglotError(f"{name}: its file has no weights for {parts}; save the model again, or take another")
    _check_tokenizer(tokenizer, table=model.get_input_embeddings(), name=name)
    return TransformersReader(encoder.to(device), tokenizer=tokenizer, name=str(name))


def _check_tokenizer(tokenizer: Any, *, table: nn.Module, name: str | Path) -> None:
    if not tokenizer.is_fast:
        problem = f"{type(tokenizer).__name__} is written in Python and does not say which word a token is of"
        raise IsoglotError(f"{name}: {problem}; a fast tokenizer is needed, one with a tokenizer.json")
    ids = tokenizer.get_vocab()
    # The library makes up such a tokenizer where there are no files.
    if set(ids) <= set(tokenizer.all_special_tokens):
        raise IsoglotError(f"{name}: there is no tokenizer beside the model; add it with tokenizer.save_pretrained")
    if isinstance(table, nn.Embedding) and max(ids.values()) >= table.num_embeddings:
        problem = f"its tokenizer has {max(ids.values()) + 1} tokens and the model's table {table.num_embeddings}"
        raise IsoglotError(f"{name}: {problem}; put the tokenizer beside it that it was trained with")


def _most_tokens(model: nn.Module, tokenizer: Any) -> int:
    limits = [tokenizer.model_max_length]
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    for part, table in model.named_modules():
        # RoBERTa and its kin count positions from the one after the padding's.
        if part.endswith("position_embeddings") and isinstance(table, nn.Embedding) and table.padding_idx is not None:
            positions = table.num_embeddings - table.padding_idx - 1
    limits += [positions] if positions > 0 else []
    # A tokenizer without a limit names a number beyond all bounds.
    return int(min(limits)) if min(limits) < 1 << 31 else MOST_TOKENS


def _shortened(error: Exception) -> str:
    return shorten(str(error), LONGEST_COMPLAINT) or type(error).__name__
