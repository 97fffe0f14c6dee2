"""Whether TensorBoard can be had is known before anything begins; what is written for it is in test_health."""

import sys
from types import ModuleType

import pytest

from isoglot.errors import IsoglotError
from isoglot.pretraining.tensorboard import VARIABLE, check_tensorboard


def test_a_missing_library_is_named_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for value in ("", "0"):
        monkeypatch.setenv(VARIABLE, value)
        check_tensorboard()
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(IsoglotError, match=r"pip install 'isoglot\[tensorboard\]'"):
        check_tensorboard()
    there = ModuleType("tensorboard")
    there.__spec__ = sys.__spec__
    monkeypatch.setitem(sys.modules, "tensorboard", there)
    check_tensorboard()
