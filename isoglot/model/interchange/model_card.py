"""The README.md of an exported model: its origin, how to load it, and its limits."""

from dataclasses import dataclass

from isoglot.corpora.vocabulary import MASK
from isoglot.model.interchange.exporting import CARD, TOLERANCE, Export
from isoglot.model.interchange.own_model import OwnModel
from isoglot.model.interchange.tokenizer_files import symbols_made_twice
from isoglot.model.interchange.word_rules import CUT_BEFOREHAND
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.scales import NormPlacement


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a model comes from, the condition in words."""

    study: str
    condition: str
    languages: tuple[str, ...]
    seed: int
    trained_tokens: int  # 0 for a model that was never trained


def model_card(own: OwnModel, *, origin: Origin, export: Export) -> str:
    """Markdown, with the header that the Hugging Face hub wants."""
    shape = own.model.encoder.shape
    names = " and ".join(origin.languages)
    what = f"The {own.language} part of a model of {names}" if len(origin.languages) > 1 else f"A model of {names}"
    training = (
        f"pretrained on masked words in windows of {own.window} tokens, {origin.trained_tokens:,} tokens in all"
        if origin.trained_tokens
        else "not trained at all"
    )
    softmax = "" if export.softmax is None else f", log probabilities of masked words by {export.softmax:.1g}"
    bullets = "".join(f"- {sentence}\n" for sentence in limits(own, export=export))
    imports, cutting = _cutting(own.splitting)
    separate = own.model.encoder.separate
    parts = [
        *(["embeddings", "softmax"] if separate.embeddings else []),
        *(["bias of the softmax"] if separate.output_bias else []),
        *(f"layer {layer}" for layer in sorted(separate.layers)),
    ]
    return f"""---
library_name: transformers
tags: [isoglot]
---

# {origin.study}: {own.language}

{what}, made and exported by isoglot.

| | |
|---|---|
| Study | {origin.study} |
| Condition | {origin.condition} |
| Seed | {origin.seed} |
| Training | {training} |
| Class | `{export.architecture}` |
| Shape | {shape.layers} layers ({shape.norm.value}-LN), width {shape.width}, {shape.heads} heads |
| Parts of its own | {", ".join(parts) or "none, all is shared"} |
| Tokens | {own.table_size:,} |

When it was written, its hidden states differed from the original's by at most {export.hidden_states:.1g} of a layer's
largest number{softmax} ({TOLERANCE:.0e} is allowed). {export.agreement}

## Loading

```python
{imports}from transformers import AutoModel, AutoTokenizer

folder = "."  # where this file is
tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
lines = ["A line of text."]
{cutting}batch = tokenizer(lines, padding=True, truncation=True, return_tensors="pt")
output = model(**batch, output_hidden_states=True)
```

The last of `output.hidden_states` is after the top norm, the first is the embeddings.
{"" if export.softmax is None else _masked_words(own)}
## Limits

{bullets}"""


def limits(own: OwnModel, *, export: Export) -> list[str]:
    """Limits that someone who loads the folder should know, a sentence or two each."""
    shape = own.model.encoder.shape
    sentences = []
    if own.splitting.splitter in CUT_BEFOREHAND:
        sentences.append(
            f"The words of training were found by {own.splitting.splitter.value}, which a tokenizer.json cannot hold: "
            f"put spaces between the words of a line first, as the code in {CARD} does, and a mask after that."
        )
    elif own.splitting.splitter in (Splitter.MOSES, Splitter.MOSES_PERL_QUOTES):
        sentences.append(
            "The tokenizer applies the rules of Moses to all text. Words that are split already, as those of a "
            "treebank, are split further where a rule says so."
        )
    sentences.append(
        f"A line may have {own.window} tokens, the window of training: the tokenizer's model_max_length. Ask it for "
        "truncation=True, or cut longer lines yourself."
    )
    if shape.positions > own.window:
        sentences.append(f"There are {shape.positions} positions; those beyond the window were never learned.")
    if own.num_unknown:
        sentences.append(
            f"Ids from {own.table_size} on ({own.num_unknown} of them) are for pieces of words that the model does not "
            "know: their vectors are copies of the unknown symbol's, and the softmax all but excludes them."
        )
    sentences.append(
        f"A text that spells out a special symbol, such as {own.names[1]}, is read as that symbol; "
        "give the tokenizer split_special_tokens=True if it is text."
    )
    if export.softmax is None:
        sentences.append(
            "Only the encoder is here: the softmax over masked words could not be expressed in this class, whose head "
            "has a dense layer and a norm that ours lacks, and which here do not cancel out."
        )
    elif shape.norm is NormPlacement.PRE:
        sentences.append(
            "The head for masked words has a dense layer and a norm that ours lacks; their weights are chosen so that "
            "they cancel out. They do in float32, not in half precision, where only the encoder should be used."
        )
    if shape.norm is NormPlacement.PRE:
        sentences.append("There is no pooler: `pooler_output` comes from random weights.")
    if twice := symbols_made_twice(own.bpe):
        sentences.append(
            f"The text spells out the mark of BPE, </w>: words with {', '.join(twice[:3])} may be cut otherwise than "
            "in training."
        )
    return sentences


def _masked_words(own: OwnModel) -> str:
    return f"""
`AutoModelForMaskedLM` brings the softmax; the mask is `tokenizer.mask_token`, "{own.names[MASK]}":

```python
from transformers import pipeline

guesses = pipeline("fill-mask", model=folder)("A {own.names[MASK]} of text.")
```
"""


def _cutting(splitting: WordSplitting) -> tuple[str, str]:
    """Imports, and code that puts spaces between the words of lines where the tokenizer cannot find them itself."""
    match splitting.splitter:
        case Splitter.JIEBA:
            code = 'lines = [" ".join(jieba.cut(line)) for line in lines]  # as in training'
            return "import jieba  # get it with: pip install jieba\n", code + "\n"
        case Splitter.COMMAND:
            settings = f"splitter=Splitter.COMMAND, language={splitting.language!r}, command={splitting.command!r}"
            settings += ", lowercase=True" if splitting.lowercase else ""
            imports = (
                "from isoglot.corpora.words import split_lines\n"
                "from isoglot.study.languages import Splitter, WordSplitting\n"
            )
            code = f"words = split_lines(lines, WordSplitting({settings}))  # as in training\n"
            return imports, code + 'lines = [" ".join(line) for line in words]\n'
        case Splitter.WHITESPACE | Splitter.MOSES | Splitter.MOSES_PERL_QUOTES | Splitter.CHARACTERS:
            return "", ""
