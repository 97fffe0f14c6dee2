"""Parameters counted without a model are those of the model."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.vocabulary import PAD
from isoglot.model.cloze import ClozeModel
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.parameters import num_flat_tensors, num_in_training, num_parameters, num_read, num_tensors
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import MONOLINGUAL, TABLE_1, Condition, Separate
from isoglot.study.scales import NormPlacement, Scale
from tests.pretraining.tiny_runs import RUN


def model_of(run: PretrainingRun, table_sizes: Mapping[str, int]) -> ClozeModel:
    return ClozeModel(run.shape, table_sizes=table_sizes, separate=run.separate, pad_id=PAD)


def check(run: PretrainingRun, table_sizes: Mapping[str, int]) -> None:
    model = model_of(run, table_sizes)
    parameters = list(model.parameters())
    assert num_parameters(run, table_sizes=table_sizes) == sum(each.numel() for each in parameters)
    assert num_tensors(run, table_sizes=table_sizes) == len(parameters)
    flat = list(FlatWeights(model).parameters())
    assert num_in_training(run, table_sizes=table_sizes) == sum(each.numel() for each in flat)
    assert num_flat_tensors(run, table_sizes=table_sizes) == len(flat)


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize("condition", TABLE_1, ids=lambda condition: condition.name)
def test_every_row_of_table_1(condition: Condition, norm: NormPlacement, tiny_scale: Scale) -> None:
    run = PretrainingRun.of(condition, scale=tiny_scale, languages=("en", "fr"), seed=0)
    check(
        replace(run, shape=replace(run.shape, norm=norm)),
        {"en": 90, "fr": 70} if condition.separate.embeddings else {"en": 80, "fr": 80},
    )


def test_a_model_of_one_language(tiny_scale: Scale) -> None:
    check(PretrainingRun.of(MONOLINGUAL, scale=tiny_scale, languages=("en",), seed=0), {"en": 50})


@given(
    embeddings=st.booleans(),
    layers=st.frozensets(st.integers(1, 2)),
    norm=st.sampled_from(NormPlacement),
    sizes=st.lists(st.integers(20, 40), min_size=3, max_size=3),
    languages=st.integers(1, 3),
)
def test_what_takes_part_when_some_languages_are_read(
    embeddings: bool, layers: frozenset[int], norm: NormPlacement, sizes: list[int], languages: int
) -> None:
    table_sizes = dict(zip(("en", "fr", "de"), sizes if embeddings else sizes[:1] * 3, strict=True))
    run = replace(
        RUN,
        languages=tuple(table_sizes),
        separate=Separate(embeddings=embeddings, layers=layers),
        shape=replace(RUN.shape, norm=norm),
    )
    check(run, table_sizes)
    model = model_of(run, table_sizes)
    read = sorted(table_sizes, key=lambda language: table_sizes[language])[-languages:]
    for gradient in FlatWeights(model).gradients_of(read):
        gradient.fill_(1)
    counted = sum(int(parameter.grad.sum()) for parameter in model.parameters())
    assert num_read(run, table_sizes=table_sizes, languages=languages) == counted
