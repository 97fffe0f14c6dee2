"""Two languages and a model of each whose likeness is known: one is the other in a cipher, its neurons shuffled."""

import random
from pathlib import Path

import torch
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizer,
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaModel,
    XLMRobertaTokenizer,
)

WORDS = [f"{first}{vowel}{last}" for first in "bdgklm" for vowel in "aeiou" for last in "nrst"]
CIPHER = {word: f"x{word[::-1]}" for word in WORDS}
SHAPE = {
    **{"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48},
    **{"vocab_size": 140, "max_position_embeddings": 40, "initializer_range": 0.3},
}
KINDS = ("BERT", "XLM-R")


def drawn_lines(count: int, *, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(3, 12))) for _ in range(count)]


def ciphered(lines: list[str]) -> list[str]:
    return [" ".join(CIPHER[word] for word in line.split()) for line in lines]


def write_texts(folder: Path, *, count: int = 400) -> Path:
    """A data folder in the plain convention: en, and fr, which is en in a cipher."""
    lines = drawn_lines(count)
    for name, text in (
        ("parallel/en-fr.en", lines),
        ("parallel/en-fr.fr", ciphered(lines)),
        ("dictionaries/en-fr.txt", [f"{word} {CIPHER[word]}" for word in WORDS]),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in text))
    return folder


def write_model(folder: Path, kind: str, *, cipher: bool, seed: int = 7) -> Path:
    """A model of random weights with the tokenizer of its library; in a cipher, with its neurons shuffled too."""
    words = [CIPHER[word] if cipher else word for word in WORDS]
    torch.manual_seed(seed)
    if kind == "BERT":
        specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        model, tokenizer = BertModel(BertConfig(**SHAPE)), BertTokenizer(vocab=_numbered([*specials, *words]))
    else:
        pieces = [(piece, 0.0) for piece in ("<s>", "<pad>", "</s>", "<unk>")]
        pieces += [(f"\u2581{word}", -2.0) for word in words]
        config = XLMRobertaConfig(**SHAPE, pad_token_id=1)
        model, tokenizer = XLMRobertaModel(config), XLMRobertaTokenizer(vocab=[*pieces, ("<mask>", 0.0)])
    if cipher:
        shuffle_neurons(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _numbered(pieces: list[str]) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(pieces)}


def shuffle_neurons(model: PreTrainedModel) -> None:
    """Give every hidden state its numbers in another order, which is a rotation that every layer agrees with."""
    order = torch.randperm(SHAPE["hidden_size"], generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            reads = any(
                part in name for part in ("query.weight", "key.weight", "value.weight", "intermediate.dense.weight")
            )
            writes = "embeddings" in name or "LayerNorm" in name or ".output.dense" in name
            if reads:
                weight.copy_(weight[:, order])
            elif writes:
                weight.copy_(weight[:, order] if "_embeddings" in name else weight[order])
