"""Whatever is made, killed, damaged and deleted in whatever order, the store serves the right bytes or an error."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from isoglot.errors import IsoglotError
from isoglot.store import Store
from tests.store.test_interruption import assert_sound
from tests.store.toy_stages import Joined, Text, files_of, lives_through

TEXTS = [Text(word="a"), Text(word="b", lines=3)]
JOINED = Joined(texts=tuple(TEXTS))
ANY_TEXT = st.sampled_from(TEXTS)


class Life(RuleBasedStateMachine):
    """The model: finished texts, those of them whose damage sizes show, and those whose damage only reading shows."""

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="isoglot-store-"))
        self.finished: set[str] = set()
        self.damaged: set[str] = set()
        self.corrupted: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def store(self) -> Store:
        """A new one each time, as each process has."""
        return Store(self.root)

    @rule(text=ANY_TEXT)
    def ensure(self, text: Text) -> None:
        if text.word in self.damaged:
            with pytest.raises(IsoglotError, match="delete the folder"):
                self.store().ensure(text)
        else:
            assert self.store().ensure(text) == (text.word not in self.finished)
            self.finished.add(text.word)

    @rule(text=ANY_TEXT, moment=st.integers(0, 50))
    def ensure_and_be_killed(self, text: Text, moment: int) -> None:
        if text.word not in self.damaged:
            lived = lives_through(text, root=self.root, moment=moment)
            is_there = self.store().has(text)
            assert is_there >= (lived or text.word in self.finished)
            if is_there:
                self.finished.add(text.word)

    @precondition(lambda self: self.finished - self.damaged - self.corrupted)
    @rule(text=ANY_TEXT, deed=st.sampled_from(["truncate", "remove", "tear the record", "change a byte"]))
    def damage(self, text: Text, deed: str) -> None:
        folder = self.store().folder(text)
        if text.word not in self.finished - self.damaged - self.corrupted:
            return
        (self.corrupted if deed == "change a byte" else self.damaged).add(text.word)
        match deed:
            case "change a byte":
                (folder / "lines" / "1.txt").write_text(f"{text.word.upper()} 1\n")
            case "truncate":
                (folder / "lines" / "1.txt").write_text("")
            case "remove":
                (folder / "lines" / "0.txt").unlink()
            case "tear the record":
                (folder / "record.json").write_bytes((folder / "record.json").read_bytes()[:100])

    @precondition(lambda self: self.finished)
    @rule(text=ANY_TEXT)
    def delete(self, text: Text) -> None:
        shutil.rmtree(self.store().folder(text), ignore_errors=True)
        self.finished.discard(text.word)
        self.damaged.discard(text.word)
        self.corrupted.discard(text.word)

    @rule()
    def use(self) -> None:
        usable = self.finished == {text.word for text in TEXTS} and not self.damaged | self.corrupted
        if usable or self.store().has(JOINED):
            self.store().ensure(JOINED)
            assert files_of(self.store().folder(JOINED)) == {"joined.txt": b"a 0 a 1 b 0 b 1 b 2"}
        else:
            with pytest.raises(IsoglotError):
                self.store().ensure(JOINED)

    @invariant()
    def finished_artifacts_verify(self) -> None:
        for text in TEXTS:
            if text.word in self.damaged | self.corrupted:
                with pytest.raises(IsoglotError, match="delete the folder"):
                    self.store().verified_folder(text)
            elif text.word in self.finished:
                self.store().verified_folder(text)
                expected = {f"lines/{i}.txt": f"{text.word} {i}\n".encode() for i in range(text.lines)}
                assert files_of(self.store().folder(text)) == expected
            else:
                assert not self.store().has(text)
        if not self.damaged | self.corrupted:
            assert_sound(self.root)


@pytest.mark.parametrize("examples", [8, pytest.param(60, marks=pytest.mark.campaign)])
def test_store_invariant(examples: int) -> None:
    run_state_machine_as_test(Life, settings=settings(max_examples=examples, stateful_step_count=15, deadline=None))
