"""Models in the store: their start, their training, their log and the sizes of their tables."""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import pytest
import torch
from commands import Workplace
from numpy.typing import NDArray
from real_studies import write_real_study

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import SPECIALS, Vocabulary
from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.measurements import measurements
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.models import (
    CHARACTERS_OF_A_TEXT,
    AnyEncoder,
    PretrainedEncoder,
    UntrainedEncoder,
    chosen_model,
    evaluations,
    kept_models,
    table_sizes,
    unlearned,
)
from isoglot.pipeline.stages.vocabulary import VOCABULARY
from isoglot.pretraining.loop import untrained_model
from isoglot.report.state import last_remark
from isoglot.store import Amount, Store, Work, inputs_first
from isoglot.study.conditions import condition_named
from isoglot.study.study_file import read_study
from tests.pipeline.making import input_folders

TOKENS = 80 * 8 * 16


def shares(stage: PretrainedEncoder, finished: Workplace) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """How frequent each token is in the text that a model was trained on."""
    for language, stream in stage.streams.items():
        opened = TokenStream.open(finished.store.folder(stream))
        count_V = np.bincount(opened.ids(Split.TRAIN), minlength=opened.table_size)
        yield language, count_V[count_V > 0] / count_V.sum()


def encoders(finished: Workplace) -> list[AnyEncoder]:
    stages = inputs_first(targets(finished.study)).values()
    return [stage for stage in stages if isinstance(stage, UntrainedEncoder | PretrainedEncoder)]


def pretrained(finished: Workplace) -> list[PretrainedEncoder]:
    return [each for each in encoders(finished) if isinstance(each, PretrainedEncoder)]


def json_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_training_starts_from_the_untrained_model_and_moves_every_weight(finished: Workplace) -> None:
    trained = {stage.label: stage for stage in pretrained(finished)}
    embeddings = []
    for stage in encoders(finished):
        if isinstance(stage, UntrainedEncoder):
            before, after = (chosen_model(finished.store.folder(each)) for each in (stage, trained[stage.label]))
            sizes = before.encoder.table_sizes
            start = untrained_model(stage.run, table_sizes=sizes).state_dict()
            weights, learned = before.state_dict(), after.state_dict()
            assert all(torch.equal(weights[name], tensor) for name, tensor in start.items())
            assert [name for name in weights if torch.equal(weights[name], learned[name])] == []
            if stage.label.startswith("default"):
                embeddings.append(weights["encoder.embeddings.owned_by.shared.token.weight"])
    assert len(trained) == 6
    assert not torch.equal(*embeddings), "seeds start apart"


def test_pretraining_leaves_its_log_its_health_and_no_checkpoints(finished: Workplace) -> None:
    for stage in pretrained(finished):
        folder = finished.store.folder(stage)
        assert [row["update"] for row in json_lines(folder / "log.jsonl")] == [20, 40, 60, 80]
        assert {path.name for path in folder.iterdir()} == {
            "best",
            "intermediate",
            "log.jsonl",
            "record.json",
            "unigram.json",
        }
        health = json_lines(finished.store.log_folder(stage) / "health.jsonl")[-1]
        assert (health["update"], health["tokens"], health["skipped"]) == (80, TOKENS, 0)
        assert stage.amount() == Amount(units=TOKENS, of="tokens")


def test_a_model_that_knows_only_frequencies_is_named_and_one_that_knows_more_is_not(tmp_path: Path) -> None:
    perplexities = ({"ela": 40.0, "oru": 90.0}, {"ela": 30.0, "oru": 70.0})
    rows = [{"update": update, "perplexity": each} for update, each in enumerate(perplexities)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert unlearned(tmp_path, source="ela") == {}, "an older model has no note"
    for unigram, expected in (((50, 80), {}), ((50, 70), {"oru": 1.0}), ((20, 35), {"ela": 1.5, "oru": 2.0})):
        (tmp_path / "unigram.json").write_text(json.dumps(dict(zip(("ela", "oru"), unigram, strict=True))))
        assert unlearned(tmp_path, source="ela") == expected


def test_such_a_model_is_a_warning_a_remark_and_a_score_beside_those_of_its_tasks(
    finished: Workplace, tmp_path: Path
) -> None:
    stage = pretrained(finished)[0]
    inputs = input_folders(stage, finished.store)
    work = Work(folder=tmp_path, input_folders=inputs, progress=lambda *_: None, log_folder=tmp_path / "logs")
    with pytest.warns(UserWarning, match=r"default.* knows no more of ela and oru than how frequent words are: train"):
        stage.make(work)
    assert "knows no more of ela and oru" in str(last_remark(tmp_path / "logs"))
    frequency = {language: exp(-share_V @ np.log(share_V)) for language, share_V in shares(stage, finished)}
    assert json.loads((tmp_path / "unigram.json").read_text()) == pytest.approx(frequency, rel=0.02)
    found, _ = measurements(finished.study, finished.store)
    for exhibit in ("table-1", "emergence"):
        marks = [each for each in found if each.metric == "perplexity_over_unigram" and each.exhibit == exhibit]
        assert {(each.condition, each.language) for each in marks} >= {("default", "ela"), ("default", "oru")}
        assert min(each.value for each in marks) >= 1
        assert {each.variant for each in marks} == {None}, "nothing is asked of an untrained model"


@pytest.mark.campaign
def test_processes_that_train_together_come_to_the_same_model_and_keep_a_log(
    finished: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "2")
    stage = pretrained(finished)[0]
    reports: list[tuple[float, float, str]] = []
    work = Work(
        folder=tmp_path / "model",
        input_folders=input_folders(stage, finished.store),
        progress=lambda done, total, unit, _="": reports.append((done, total, unit)),
        log_folder=tmp_path / "logs",
    )
    stage.make(work)
    assert reports[-1] == (TOKENS, TOKENS, "tokens")
    ours, alone = (evaluations(folder) for folder in (tmp_path / "model", finished.store.folder(stage)))
    for row, expected in zip(ours, alone, strict=True):
        assert row.perplexity == pytest.approx(expected.perplexity, rel=0.01)
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["health.jsonl", "torchrun.log"]


def test_the_error_that_ends_a_training_stands_in_its_log(finished: Workplace, tmp_path: Path) -> None:
    stage = pretrained(finished)[0]
    optimization = replace(stage.run.optimization, learning_rate=1e25, warmup_updates=0)
    astray = replace(stage, run=replace(stage.run, optimization=optimization))
    inputs = input_folders(stage, finished.store)
    work = Work(folder=tmp_path, input_folders=inputs, progress=lambda *_: None, log_folder=tmp_path / "logs")
    with pytest.raises(IsoglotError, match="lower optimization") as raised:
        astray.make(work)
    *_, last, remark = json_lines(tmp_path / "logs" / "health.jsonl")
    assert last["skipped"] >= 19
    assert remark["remark"] == str(raised.value)


def test_the_first_of_equally_good_models_is_chosen_and_listed_once(tmp_path: Path) -> None:
    for update in ("00000040", "00000020"):
        (tmp_path / "intermediate" / update).mkdir(parents=True)
    perplexities = {20: 5.0, 40: 4.0, 60: 4.0, 80: 6.0}
    rows = [{"update": update, "perplexity": {"ela": each, "oru": -each}} for update, each in perplexities.items()]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert kept_models(tmp_path, source="ela") == {20: tmp_path / "intermediate" / "00000020", 40: tmp_path / "best"}
    assert evaluations(tmp_path / "nowhere") == []


def test_table_sizes_are_those_of_the_vocabulary_and_a_guess_before_is_not_outgrown(
    finished: Workplace, tmp_path: Path
) -> None:
    by_condition = {}
    for encoder in encoders(finished):
        known, guess = (table_sizes(encoder, store) for store in (finished.store, Store(tmp_path)))
        assert (known.are_known, guess.are_known) == (True, False)
        built = next(iter(encoder.streams.values())).vocabulary
        vocabulary = Vocabulary.read(finished.store.folder(built) / VOCABULARY)
        for language in ("ela", "oru"):
            assert known.by_language[language] == vocabulary.size(language)
            assert vocabulary.size(language) <= guess.by_language[language] < 2 * vocabulary.size(language)
        by_condition[encoder.label.partition(",")[0]] = known.by_language
    assert by_condition["sep-emb-l1-6"]["ela"] < by_condition["no-anchors"]["ela"] == by_condition["no-anchors"]["oru"]


@pytest.mark.parametrize(
    ("condition", "merges", "texts"), [("default", 1, 2), ("no-anchors", 1, 2), ("sep-emb", 0.5, 1)]
)
def test_real_text_has_many_more_characters(condition: str, merges: float, texts: int, tmp_path: Path) -> None:
    study = read_study(write_real_study(tmp_path))
    graph = ModelGraph(study=study, condition=condition_named(condition), languages=("en", "fr"), seed=0)
    size = len(SPECIALS) + merges * study.scale.merges + texts * CHARACTERS_OF_A_TEXT
    assert table_sizes(graph.pretrained, Store(tmp_path / "store")).by_language == {"en": size, "fr": size}
