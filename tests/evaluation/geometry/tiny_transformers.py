"""Models of random weights that transformers wrote into a folder, with a tokenizer of a few words."""

import os
from pathlib import Path

import torch

from isoglot.evaluation.geometry.transformers_reader import TransformersReader, read_transformers
from tests.evaluation.geometry.tiny_readers import CPU, MOST_TOKENS, WORDS

os.environ["HF_HUB_OFFLINE"] = "1"
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

POSITIONS = {"max_position_embeddings": MOST_TOKENS, "pad_token_id": 0}
SMALL = POSITIONS | {
    **{"vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4},
    **{"intermediate_size": 48, "hidden_dropout_prob": 0.5},
}
SMALL_XLM = POSITIONS | {
    **{"vocab_size": 60, "emb_dim": 24, "n_layers": 3, "n_heads": 4},
    **{"dropout": 0.5, "n_langs": 1, "use_lang_emb": False},
}
SMALL_T5 = {
    **{"vocab_size": 60, "d_model": 24, "d_kv": 6, "d_ff": 48, "num_layers": 3, "num_heads": 4},
    "decoder_start_token_id": 0,
}
SMALL_GPT = {"vocab_size": 60, "n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": MOST_TOKENS}


def word_piece(*, template: str | None = "[CLS] $A [SEP]") -> transformers.PreTrainedTokenizerFast:
    """Words in two pieces, the second a single letter; special symbols as BERT has them, or as `template` says."""
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*specials, *dict.fromkeys(word[:-1] for word in WORDS if len(word) > 1), *"abc."]
    pieces += [f"##{letter}" for letter in sorted({word[-1] for word in WORDS if len(word) > 1})]
    ids = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if template is not None:
        special_tokens = [(name, ids[name]) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=special_tokens)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def randomised(model: torch.nn.Module) -> torch.nn.Module:
    """So that no norm or bias goes unnoticed."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=generator)
    return model


MODELS = {
    "BERT": lambda: transformers.BertModel(transformers.BertConfig(**SMALL)),
    "BERT with a head": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SMALL)),
    "RoBERTa": lambda: transformers.RobertaModel(transformers.RobertaConfig(**SMALL)),
    "pre-norm RoBERTa": lambda: transformers.RobertaPreLayerNormModel(transformers.RobertaPreLayerNormConfig(**SMALL)),
    "XLM": lambda: transformers.XLMModel(transformers.XLMConfig(**SMALL_XLM)),
    "T5": lambda: transformers.T5Model(transformers.T5Config(**SMALL_T5)),
    "GPT": lambda: transformers.GPT2Model(transformers.GPT2Config(**SMALL_GPT)),
}


def write_tiny_transformers(folder: Path, name: str, *, template: str | None = "[CLS] $A [SEP]") -> Path:
    randomised(MODELS[name]()).save_pretrained(folder)
    word_piece(template=template).save_pretrained(folder)
    return folder


def tiny_transformers_reader(folder: Path, name: str, *, template: str | None = "[CLS] $A [SEP]") -> TransformersReader:
    return read_transformers(write_tiny_transformers(folder, name, template=template), device=CPU)
