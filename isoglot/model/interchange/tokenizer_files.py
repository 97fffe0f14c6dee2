"""A tokenizer.json that gives our ids, for words with white space between them."""

import json
from collections.abc import Sequence
from pathlib import Path

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.bpe_learning import END_OF_WORD
from isoglot.corpora.vocabulary import END, MASK, PAD, SPECIALS, UNK

# Where str.split parts words: what the library calls white space, and four separators that only Python counts.
WHITE_SPACE = r"[\s\x1c-\x1f]+"


def write_tokenizer(folder: Path, *, names: Sequence[str], bpe: Bpe, lowercase: bool, positions: int) -> None:
    """Write tokenizer.json and tokenizer_config.json: BPE between two end symbols, as our models read a sentence."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(
        models.BPE(
            vocab={name: id for id, name in enumerate(names)},
            # The first of two equal merges counts, as in Bpe; the library would take the last.
            merges=list(dict.fromkeys(bpe.merges)),
            unk_token=names[UNK],
            end_of_word_suffix=END_OF_WORD,
            fuse_unk=False,
        )
    )
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WHITE_SPACE), behavior="removed")
    end = names[END]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[end, "$A", end], pair=[end, "$A", end, "$B:0", end], special_tokens=[(end, END)]
    )
    tokenizer.decoder = decoders.BPEDecoder(suffix=END_OF_WORD)
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names[: len(SPECIALS)]])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": positions,
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
        "bos_token": names[SPECIALS.index("<s>")],
        **dict.fromkeys(("eos_token", "cls_token", "sep_token"), end),
        "pad_token": names[PAD],
        "unk_token": names[UNK],
        "mask_token": names[MASK],
    }
    text = json.dumps(settings, ensure_ascii=False, indent=2)
    (folder / "tokenizer_config.json").write_text(text + "\n", encoding="utf-8")


def symbols_made_twice(bpe: Bpe) -> list[str]:
    """Symbols that several merges make, or that are letters already."""
    # Our BPE joins all places of a pair before it looks again, the library one place. That is the same unless a merge
    # makes a symbol that an earlier one knows, which those we learn never do, but for a text that spells out "</w>".
    known: set[str] = set()
    twice = []
    for left, right in dict.fromkeys(bpe.merges):
        joined = left + right
        if joined in known or len(joined.removesuffix(END_OF_WORD)) == 1:
            twice.append(joined)
        known |= {left, right, joined}
    return twice
