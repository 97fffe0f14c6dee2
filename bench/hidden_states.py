"""Vectors of word types and of sentences from a stream of made-up text, words drawn by Zipf's law.

    python bench/hidden_states.py [--sentences 500000] [--shape paper] [--words 200000]

By default a little text and the demo's model, on the GPU if there is one. One JSON line for each way: ids and batches
with no model behind them, float32, on a GPU also bf16 arithmetic, and one sentence at a time.
"""

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.sentences import EncodedSentence, Encoding
from isoglot.corpora.vocabulary import PAD, build_vocabulary
from isoglot.evaluation.geometry.hidden_states import sentence_vectors, word_type_vectors
from isoglot.evaluation.geometry.reader import EncoderReader
from isoglot.machine import Machine, this_machine
from isoglot.model.encoder import Encoder
from isoglot.study.conditions import TableKind
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.scales import SCALES, EncoderShape
from isoglot.study.separate import Separate

LANGUAGE = "en"
MERGES = 8000
MEAN_WORDS = 18
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvz" for vowel in "aeiou"]
SENTENCE_VECTORS = 10_000
ONE_BY_ONE = 200


class Text:
    """Sentences of about 18 words and 25 tokens."""

    def __init__(self, *, sentences: int, words: int, seed: int = 0):
        generator = np.random.default_rng(seed)
        # Frequent words are short, as they are everywhere.
        lengths = 1 + np.log10(np.arange(1, words + 1)).astype(int)
        spelled = (
            "".join(generator.choice(SYLLABLES, length)) + f"{number % 7}" for number, length in enumerate(lengths)
        )
        self.types = list(dict.fromkeys(spelled))
        share = 1 / np.arange(1, len(self.types) + 1)
        length_N = np.clip(generator.gamma(3.0, MEAN_WORDS / 3, sentences).astype(int), 1, 90)
        self.ends_N = np.cumsum(length_N)
        total = int(self.ends_N[-1])
        self.numbers = np.searchsorted(np.cumsum(share) / share.sum(), generator.random(total)).clip(max=len(share) - 1)

    def lines(self, most: int | None = None) -> Iterator[list[str]]:
        start = 0
        for end in self.ends_N[:most].tolist():
            yield [self.types[number] for number in self.numbers[start:end].tolist()]
            start = end

    def word_counts(self) -> Counter[str]:
        counts = np.bincount(self.numbers, minlength=len(self.types)).tolist()
        return Counter({word: count for word, count in zip(self.types, counts, strict=True) if count})


class NoModel(EncoderReader):
    """Only the work on ids is left."""

    def __init__(self, encoder: Encoder, **settings: Any):
        super().__init__(encoder, **settings)
        self.num_states, self.width = 1, 1

    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:  # noqa: ARG002
        return [torch.zeros(*token_BL.shape, 1, device=token_BL.device)]


def reader_of(text: Text, shape: EncoderShape, *, window: int, machine: Machine) -> EncoderReader:
    counts = text.word_counts()
    bpe = learn_bpe(counts, merges=MERGES)
    vocabulary = build_vocabulary(TableKind.JOINT, counts={LANGUAGE: bpe.subword_counts(counts)})
    encoder = Encoder(shape, table_sizes={LANGUAGE: vocabulary.size(LANGUAGE)}, separate=Separate(), pad_id=PAD)
    splitting = WordSplitting(splitter=Splitter.WHITESPACE, language=LANGUAGE)
    encoding = Encoding(language=LANGUAGE, bpe=bpe, vocabulary=vocabulary)
    return EncoderReader(encoder.to(machine.device), encoding=encoding, splitting=splitting, most_tokens=window)


def seconds_since(start: float, machine: Machine) -> float:
    if machine.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def report(way: str, seconds: float, sentences: int, machine: Machine, **more: float) -> None:
    rate = sentences / seconds
    told = {"way": way, "sentences": sentences, "seconds": round(seconds, 2), "sentences_per_second": round(rate)}
    told["minutes_for_500k"] = round(500_000 / rate / 60, 2)
    told["host_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    if machine.device.type == "cuda":
        told["gpu_gb"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    print(json.dumps(told | more), flush=True)


def timed_word_types(reader: EncoderReader, text: Text, machine: Machine) -> tuple[Tensor, Tensor, float]:
    types = {word: row for row, word in enumerate(text.types)}
    start = time.perf_counter()
    mean_SWD, num_met_W = word_type_vectors(reader, reader.whole_sentences_of_words(text.lines()), types=types)
    return mean_SWD, num_met_W, seconds_since(start, machine)


def afresh(reader: EncoderReader, kind: type[EncoderReader] = EncoderReader) -> EncoderReader:
    """One that has not met a word yet."""
    old = reader.encoding
    encoding = Encoding(language=LANGUAGE, bpe=old.bpe, vocabulary=old.vocabulary)
    return kind(reader.network, encoding=encoding, splitting=reader.splitting, most_tokens=reader.most_tokens)


def read_sentences(reader: EncoderReader, lines: Iterable[list[str]]) -> list[EncodedSentence]:
    return reader.cut(list(reader.whole_sentences_of_words(lines)))[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--words", type=int, default=20_000, help="word types, all of them averaged")
    parser.add_argument("--shape", choices=sorted(SCALES), default="demo")
    asked = parser.parse_args()
    machine, scale = this_machine(), SCALES[asked.shape]
    is_gpu = machine.device.type == "cuda"
    torch.manual_seed(0)
    text = Text(sentences=asked.sentences, words=asked.words)
    # The demo's window is shorter than these sentences.
    window = min(max(scale.window, 64), scale.shape.positions)
    reader = reader_of(text, scale.shape, window=window, machine=machine)

    start = time.perf_counter()
    num_tokens = sum(len(sentence.ids) for sentence in reader.whole_sentences_of_words(text.lines()))
    mean_tokens = round(num_tokens / asked.sentences, 1)
    report("words to ids", time.perf_counter() - start, asked.sentences, machine, tokens_per_sentence=mean_tokens)
    *_, seconds = timed_word_types(afresh(reader, NoModel), text, machine)
    report("word types without a model", seconds, asked.sentences, machine)

    sentence_vectors(reader, read_sentences(reader, text.lines(512)))
    ways: dict[str, AbstractContextManager[object]] = {"float32": nullcontext()}
    ways |= {"bf16 arithmetic": machine.autocast()} if is_gpu else {}
    found: dict[str, Tensor] = {}
    for way, arithmetic in ways.items():
        with arithmetic:
            mean_SWD, num_met_W, seconds = timed_word_types(afresh(reader), text, machine)
            report(f"word types, {way}", seconds, asked.sentences, machine, types_met=int(num_met_W.count_nonzero()))
            # The last state of what was met, to compare.
            found[way] = mean_SWD[-1, num_met_W > 0].clone()
            del mean_SWD
            count = min(SENTENCE_VECTORS, asked.sentences)
            start = time.perf_counter()
            sentence_vectors(reader, read_sentences(reader, text.lines(count)))
            report(f"sentences, {way}", seconds_since(start, machine), count, machine)
    if is_gpu:
        alike = torch.nn.functional.cosine_similarity(found["float32"], found["bf16 arithmetic"])
        print(json.dumps({"cosine_of_float32_and_bf16": {"least": float(alike.min()), "mean": float(alike.mean())}}))
    count = min(ONE_BY_ONE, asked.sentences)
    sentences = read_sentences(reader, text.lines(count))
    start = time.perf_counter()
    for sentence in sentences:
        sentence_vectors(reader, [sentence])
    report("sentences one at a time, float32", seconds_since(start, machine), count, machine)


if __name__ == "__main__":
    main()
