"""Fine-tuning a parser on the paper's encoder and parsing with it, against transformers' BERT in the same loop.

    python bench/transfer.py [TRAIN.conllu TEST.conllu]

Without files the trees are made up. On a GPU the model is the paper's, 8 layers of 768 and 80,000 subwords; on a CPU it
is the demo's. One JSON line for each way.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.readers.conllu import Tree, read_conllu
from isoglot.corpora.vocabulary import PAD, build_vocabulary
from isoglot.evaluation.transfer.fine_tuning import FineTuner
from isoglot.evaluation.transfer.predictions import predictions
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import Encoding, encoded, epoch_order, length_batches
from isoglot.evaluation.transfer.tasks.parsing import TASK
from isoglot.machine import Machine, this_machine
from isoglot.model.encoder import Encoder
from isoglot.study.conditions import TableKind
from isoglot.study.scales import DEMO, PAPER, EncoderShape
from isoglot.study.searches import Schedule
from isoglot.study.separate import Separate
from isoglot.study.synthetic_languages import SyntheticLanguage, World

LANGUAGE = "en"
SUBWORDS = 8000
"""Merges learned on the treebank itself: about as many subwords a word as the paper's vocabulary gives."""
TABLE_SIZE = 80_000
LENGTHS = {"cuda": 256, "cpu": 64}


class BertEncoder(nn.Module):
    """transformers' model in the place of ours."""

    def __init__(self, shape: EncoderShape, *, table_size: int):
        from transformers import BertConfig, BertModel

        super().__init__()
        self.shape, self.pad_id = shape, PAD
        config = BertConfig(
            vocab_size=table_size,
            hidden_size=shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feed_forward,
            pad_token_id=PAD,
        )
        self.bert = BertModel(config, add_pooling_layer=False)

    def freeze_separate(self) -> None:
        """It has nothing that a language owns."""

    def forward(self, token_BL: Tensor, *, language: str, padded: bool) -> Tensor:  # noqa: ARG002
        hidden_BLD: Tensor = self.bert(input_ids=token_BL, attention_mask=token_BL.ne(PAD).long()).last_hidden_state
        return hidden_BLD


def trees() -> tuple[list[Tree], list[Tree]]:
    if len(sys.argv) > 1:
        return read_conllu(Path(sys.argv[1])), read_conllu(Path(sys.argv[2]))
    language, world = SyntheticLanguage(name=LANGUAGE), World()
    made_up = TASK.made_up(language, world=world, count=3000, seed=0)
    return made_up[:2000], made_up[2000:]


def encoding_of(train: list[Tree], *, table_size: int) -> Encoding:
    words = Counter(word for tree in train for word in tree.words)
    bpe = learn_bpe(words, merges=SUBWORDS)
    vocabulary = build_vocabulary(TableKind.JOINT, counts={LANGUAGE: bpe.subword_counts(words)})
    if len(vocabulary.tables[LANGUAGE]) > table_size:
        raise SystemExit(f"more subwords than the model's {table_size}")
    return Encoding(language=LANGUAGE, bpe=bpe, vocabulary=vocabulary)


def tuner_of(encoder: Any, encoding: Encoding, train: list[Tree], dev: list[Tree], machine: Machine) -> FineTuner:
    run = FineTuningRun(
        language=LANGUAGE,
        batch=32,
        learning_rate=5e-5,
        head_learning_rate=5e-5,
        epochs=10,
        epoch_examples=None,
        schedule=Schedule.LINEAR,
        warmup_share=0.1,
        beta2=0.99,
        most_tokens=LENGTHS[machine.device.type],
        freeze_encoder=False,
        seed=0,
    )
    return FineTuner(
        run, TASK, encoder=encoder, encoding=encoding, train=train, dev=dev, folder=Path("none"), machine=machine
    )


def waited(machine: Machine) -> float:
    if machine.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def timed_epochs(tuner: FineTuner, machine: Machine, *, epochs: int) -> list[float]:
    """Sentences a second of each epoch; the first one warms up, or records graphs."""
    rates = []
    for _ in range(epochs):
        start = waited(machine)
        tuner.learn(lambda *_: None)
        rates.append(len(tuner.train_sequences) / (waited(machine) - start))
        tuner.state.epoch += 1
    return rates


def main() -> None:
    machine = this_machine()
    is_gpu = machine.device.type == "cuda"
    torch.manual_seed(0)
    if not is_gpu:
        torch.set_num_threads(1)
    shape = PAPER.shape if is_gpu else DEMO.shape
    table_size = TABLE_SIZE if is_gpu else 2 * SUBWORDS
    train, test = trees()
    encoding = encoding_of(train, table_size=table_size)

    def ours() -> Encoder:
        return Encoder(shape, table_sizes={LANGUAGE: table_size}, separate=Separate(), pad_id=PAD)

    ways: dict[str, tuple[Any, bool]] = {
        "isoglot": (ours, is_gpu),
        "isoglot without graphs": (ours, False),
        "transformers' BERT in the same loop": (lambda: BertEncoder(shape, table_size=table_size), False),
        "transformers' BERT in the same loop, with our graphs": (
            lambda: BertEncoder(shape, table_size=table_size),
            is_gpu,
        ),
    }
    if not is_gpu:
        ways = {name: way for name, way in ways.items() if "graphs" not in name}
    best: dict[str, float] = {}
    for name, (make, has_graphs) in ways.items():
        tuner = tuner_of(make(), encoding, train, test, machine)
        tuner.replay.is_used = has_graphs
        rates = timed_epochs(tuner, machine, epochs=4 if is_gpu else 2)
        best[name] = max(rates)
        sequences = encoded(TASK, test, encoding=encoding, most_tokens=tuner.run.most_tokens)
        parsing = []
        for _ in range(3):
            start = waited(machine)
            predicted = predictions(
                TASK, test, sequences, model=tuner.model, labels=tuner.labels, language=LANGUAGE, machine=machine
            )
            parsing.append(len(test) / (waited(machine) - start))
        print(
            json.dumps(
                {
                    "way": name,
                    "training_sentences_per_second": [round(rate) for rate in rates],
                    "parsing_sentences_per_second": [round(rate) for rate in parsing],
                    "las": round(TASK.scores(test, predicted)["las"], 1),
                    "shapes": len(tuner.replay.graphs),
                }
            ),
            flush=True,
        )
        if name == "isoglot":
            length_N = tuner.train_sequences.length_N
            order = epoch_order(epoch=0, examples=len(length_N), size=len(length_N), seed=0)
            batches = length_batches(order, length_N, batch=32, seed=0, epoch=0)
            positions = sum(len(rows_B) * int(length_N[rows_B].max()) for rows_B in batches)
            padding = 1 - int(length_N.sum()) / positions
            print(json.dumps({"padding_percent": round(100 * padding, 2)}), flush=True)
        del tuner
    reference = best["transformers' BERT in the same loop"]
    print(json.dumps({f"{name}, times BERT": round(rate / reference, 2) for name, rate in best.items()}))


if __name__ == "__main__":
    main()
