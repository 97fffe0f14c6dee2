"""Any byte of a finished store may change: no number, curve or page follows from it, and `verify` names the place."""

import random
from collections import Counter
from pathlib import Path

import pytest
from commands import Workplace, answered
from damages import damage

from isoglot.errors import IsoglotError
from isoglot.pipeline.measurements import measurements
from isoglot.report.provenance import provenance
from isoglot.report.training_curves import learning_curves
from isoglot.store import Store
from isoglot.store.verifying import artifact_folders, faults_in
from isoglot.study.study import Study

SEED = 20261116


def shown(study: Study, root: Path) -> tuple[dict[str, str], list[str]]:
    """Everything that a report would show, part by part, and the damage that it would name."""
    store = Store(root)
    found, errors = measurements(study, store)
    parts = {f"{each.stage} {each}": "" for each in found}
    parts |= {f"curve {curve}": "" for curve in learning_curves(study, store)}
    making = provenance(study, store)
    # What the provenance cannot read it leaves out of its counts.
    for size in making.vocabularies:
        parts |= {f"{size.condition} {size.languages} {language} {types}": "" for language, types in size.types.items()}
    parts |= {"done": str(making.artifacts_done), "seconds": str(making.seconds)}
    return parts, [str(error) for error in errors]


@pytest.mark.parametrize("count", [6, pytest.param(200, marks=pytest.mark.campaign)])
def test_no_damage_of_a_finished_artifact_is_silent(finished: Workplace, tmp_path: Path, count: int) -> None:
    print(f"seed {SEED}")
    draw, study, origin = random.Random(SEED), finished.study, finished.store.root
    sound, _ = shown(study, origin)
    fates: Counter[str] = Counter()
    # Artifacts are read, never written, so that a copy of links is a store; the damaged file alone is a copy.
    root = tmp_path / "store"
    places = artifact_folders(finished.store)
    for folder in places:
        for path in folder.rglob("*"):
            (root / path.relative_to(origin)).parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                (root / path.relative_to(origin)).hardlink_to(path)
    for number in range(count):
        folder = draw.choice(places)
        victim = draw.choice([path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size])
        copy = root / victim.relative_to(origin)
        copy.unlink()
        copy.write_bytes(victim.read_bytes())
        what = damage(copy, draw)
        seen, errors = shown(study, root)
        named = [each.folder.name for each in faults_in(artifact_folders(Store(root)), workers=2) if each.is_damage]
        # Blanks of a record may change, or the end of its line: then nothing that it says is damaged.
        is_harmless = named == [] and victim.name == "record.json"
        assert is_harmless or named == [folder.name], what
        changed = seen.keys() - sound.keys() - {"done", "seconds"}
        assert not changed, f"{what}: {sorted(changed)[:3]} would be shown"
        lost = sound.keys() - seen.keys()
        assert not lost or errors or not is_harmless, what
        if not is_harmless and seen["done"] == sound["done"]:
            assert seen["seconds"] == sound["seconds"], what
        fates["harmless" if is_harmless else "named by results" if errors else "named by verify"] += 1
        copy.unlink(missing_ok=True)
        copy.hardlink_to(victim)
        if number % 20 == 19:
            print(number + 1, dict(fates), flush=True)
    print(dict(fates))
    assert fates.total() == count
    assert shown(study, root) == (sound, [])


def test_a_digit_of_a_log_is_no_longer_a_perplexity(copied: Workplace) -> None:
    """The trial that began all this: 95.49 became 15.49, and every command ended with 0."""
    log = sorted(copied.folder.glob("store/pretrained-encoder-*/log.jsonl"))[0]
    content = log.read_text()
    place = content.index('"perplexity"') + len('"perplexity": {"ela": ')
    log.write_text(content[:place] + str((int(content[place]) + 1) % 10) + content[place + 1 :])
    for words in (("results", "tiny.toml"), ("report", "tiny.toml"), ("run", "tiny.toml"), ("verify", "tiny.toml")):
        answer = answered(*words, folder=copied.folder)
        assert answer.returncode == 1, words
        assert f"{log} is corrupted (its sha256 has changed)" in answer.stderr + answer.stdout
        assert "Nothing to do" not in answer.stdout


def test_verify_repairs_what_it_finds_to_the_byte(copied: Workplace) -> None:
    folder, store = copied.folder, copied.folder / "store"
    assert answered("verify", folder=folder).stdout.startswith("All ")
    vocabulary = sorted(store.glob("vocabulary-*/vocabulary.json"))[0]
    scores = sorted(store.glob("zero-shot-transfer-*/scores.json"))[0]
    before = {path: path.read_bytes() for path in (vocabulary, scores)}
    for path, content in before.items():
        path.write_bytes(content.replace(b"1", b"2"))
    planted = sorted(store.glob("pretrained-encoder-*"))[0] / "intermediate" / "00000033" / "model.json"
    planted.parent.mkdir()
    planted.write_text("{}")
    answer = answered("verify", folder=folder)
    assert answer.returncode == 1
    assert answer.stderr.startswith("isoglot: of 61 artifacts in store, 3 are damaged; repair them with --repair")
    assert f"{planted} is no file of this artifact" in answer.stdout
    repaired = answered("verify", "tiny.toml", "--repair", folder=folder)
    assert (repaired.returncode, repaired.stderr) == (0, "")
    assert {path: path.read_bytes() for path in before} == before
    assert not planted.exists()
    assert answered("verify", folder=folder).returncode == 0


def test_a_file_that_cannot_be_read_is_not_called_damaged(finished: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a failing disk; to root, who runs these tests, no file is forbidden."""
    folders = artifact_folders(finished.store)[:3]
    victim = next(path for path in folders[1].rglob("*") if path.is_file() and path.name != "record.json")
    opened = Path.open

    def failing(path: Path, *words: object, **more: object) -> object:
        if path == victim:
            raise OSError(5, "Input/output error", str(path))
        return opened(path, *words, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", failing)
    (fault,) = faults_in(folders, workers=2)
    assert (fault.folder, fault.is_damage) == (folders[1], False)
    assert str(fault.errors[0]).startswith(f"{victim} cannot be read (Input/output error): see that its disk")
    with pytest.raises(IsoglotError, match="cannot be read"):
        raise fault.errors[0]
