"""A tokenizer.json that cuts raw text into our words, as far as the library tokenizers can, and gives our ids."""

import json
from collections.abc import Sequence
from pathlib import Path

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.bpe_learning import END_OF_WORD
from isoglot.corpora.vocabulary import END, MASK, PAD, SPECIALS, UNK
from isoglot.model.interchange.word_rules import WHITE_SPACE, word_normalizer
from isoglot.study.languages import WordSplitting

SPLITTER = "isoglot_splitter"
"""The key of tokenizer_config.json that names the splitter of our words."""


def write_tokenizer(folder: Path, *, names: Sequence[str], bpe: Bpe, splitting: WordSplitting, window: int) -> None:
    """Write tokenizer.json and tokenizer_config.json: BPE between two end symbols, as our models read a sentence."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

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
    tokenizer.normalizer = word_normalizer(splitting)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(f"[{WHITE_SPACE}]+"), behavior="removed")
    end = names[END]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[end, "$A", end], pair=[end, "$A", end, "$B:0", end], special_tokens=[(end, END)]
    )
    tokenizer.decoder = decoders.BPEDecoder(suffix=END_OF_WORD)
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names[: len(SPECIALS)]])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        # Not the positions, of which those beyond the window were never learned.
        "model_max_length": window,
        SPLITTER: splitting.splitter.value,
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
