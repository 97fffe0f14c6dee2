"""Models on disk come back as they were, or not at all."""

import json
from pathlib import Path

import pytest
import torch

from isoglot.errors import IsoglotError
from isoglot.model.cloze import DESCRIPTION, WEIGHTS, read_model, write_model
from isoglot.study.conditions import Separate
from isoglot.study.scales import NormPlacement
from tests.model.tiny_models import EVERYTHING, random_tokens, tiny_model, tiny_shape


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize("separate", [Separate(), Separate(layers=frozenset({1, 3})), EVERYTHING], ids=str)
@torch.no_grad()
def test_a_written_model_is_read_as_it_was(norm: NormPlacement, separate: Separate, tmp_path: Path) -> None:
    sizes = {"to": 50, "en": 60} if separate.embeddings else {"to": 50, "en": 50}
    model = tiny_model(tiny_shape(norm, dropout=0.2), separate=separate, table_sizes=sizes)
    write_model(model.train(), tmp_path / "new" / "folder")
    again = read_model(tmp_path / "new" / "folder")
    assert not any(module.training for module in again.modules())
    assert (again.encoder.shape, again.encoder.separate) == (model.encoder.shape, separate)
    assert list(again.encoder.table_sizes.items()) == list(sizes.items())
    assert again.encoder.pad_id == model.encoder.pad_id
    assert list(again.state_dict()) == list(model.state_dict())
    for name, tensor in model.state_dict().items():
        assert again.state_dict()[name].equal(tensor), name
    token_BL, masked_M = random_tokens(2, 8), torch.tensor([3, 9])
    expected_MV = model.eval().masked_logits(token_BL, masked_M=masked_M, language="en")
    assert again.masked_logits(token_BL, masked_M=masked_M, language="en").equal(expected_MV)


def test_the_same_model_makes_the_same_bytes(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        write_model(tiny_model(separate=EVERYTHING), folder)
    for name in (DESCRIPTION, WEIGHTS):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def without_shape(path: Path) -> None:
    path.write_text(json.dumps({"table_sizes": {"en": 50}}))


def no_description(path: Path) -> None:
    path.write_text("[1]")


def another_shape(path: Path) -> None:
    path.write_text(path.read_text().replace('"width": 24', '"width": 12'))


def an_unknown_norm(path: Path) -> None:
    path.write_text(path.read_text().replace('"post"', '"sideways"'))


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        (WEIGHTS, Path.unlink),
        (WEIGHTS, cut_short),
        (WEIGHTS, emptied),
        (DESCRIPTION, Path.unlink),
        (DESCRIPTION, cut_short),
        (DESCRIPTION, emptied),
        (DESCRIPTION, without_shape),
        (DESCRIPTION, no_description),
        (DESCRIPTION, another_shape),
        (DESCRIPTION, an_unknown_norm),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_an_unreadable_model_is_an_error_that_names_its_folder(name: str, spoil, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_model(tiny_model(), folder)
    read_model(folder)
    before = (folder / name).read_bytes()
    spoil(folder / name)
    assert not (folder / name).exists() or (folder / name).read_bytes() != before
    with pytest.raises(IsoglotError, match=f"{folder}: .*delete it to make it anew"):
        read_model(folder)
