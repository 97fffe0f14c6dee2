"""Our own models of random weights as readers of a few words."""

from collections import Counter

import torch

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import build_vocabulary
from isoglot.evaluation.geometry.reader import EncoderReader
from isoglot.model.encoder import Encoder
from isoglot.study.conditions import TableKind
from isoglot.study.languages import Splitter, WordSplitting
from tests.model.tiny_models import EVERYTHING, tiny_model

LINES = [
    "the cat sat on the mat",
    "a dog",
    "cats and dogs and mats that the cat sat on",
    "",
    "the dog sat",
    "mat",
    "dogs dogs dogs dogs",
]
WORDS = sorted({word for line in LINES for word in line.split()})
CPU = torch.device("cpu")
MOST_TOKENS = 20


def tiny_encoder_reader(
    language: str = "en", *, most_tokens: int = MOST_TOKENS, lowercase: bool = False
) -> EncoderReader:
    """A reader of a model with parts for each of two languages."""
    words = Counter(" ".join(LINES).split())
    bpe = learn_bpe(words, merges=12)
    counts = bpe.subword_counts(dict.fromkeys(words, 1))
    vocabulary = build_vocabulary(TableKind.SEPARATE, counts={"en": counts, "fr": counts + counts})
    encoder: Encoder = tiny_model(separate=EVERYTHING).encoder
    return EncoderReader(
        encoder,
        encoding=Encoding(language=language, bpe=bpe, vocabulary=vocabulary),
        splitting=WordSplitting(splitter=Splitter.WHITESPACE, language=language, lowercase=lowercase),
        most_tokens=most_tokens,
    )
