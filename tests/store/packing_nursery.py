"""Processes that pack and unpack and get kill -9: run as `python -m tests.store.packing_nursery FOLDER [few]`."""

import json
import shutil
import sys
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.store import Store
from isoglot.store.file_sums import EVERYTHING
from isoglot.store.packing import write_pack
from isoglot.store.unpacking import unpack
from tests.killed_processes import KILLED, Fate, exit_code_of, files_of
from tests.store.toy_stages import Joined, Text

TEXT = Text()
JOINED = Joined(texts=(TEXT,))
ARCHIVE, OLDER = "pack.tar.xz", "older.tar.xz"


def pack(store: Store, path: Path) -> None:
    """The text as a summary, the joined one whole."""
    write_pack(path, [TEXT, JOINED], store, largest_file=6, always=["joined.txt", "lines/0.txt"])


def packing_fate(place: Path, *, moment: int) -> Fate:
    """Whether the archive is the older one, the new one or neither, after a kill and after another try."""
    folder = place / f"packing-{moment}"
    folder.mkdir()
    path = folder / ARCHIVE
    shutil.copy(place / OLDER, path)
    sorts = {(place / name).read_bytes(): sort for name, sort in ((ARCHIVE, "new"), (OLDER, "older"))}
    code = exit_code_of(lambda: pack(Store(place / "origin"), path), moment=moment)
    after = sorts.get(path.read_bytes(), "neither")
    again = exit_code_of(lambda: pack(Store(place / "origin"), path))
    assert again == 0
    left = " ".join(sorted(each.name for each in folder.iterdir()))
    return code, f"{after}, then {sorts.get(path.read_bytes(), 'neither')}: {left}"


def unpacking_fate(place: Path, *, moment: int) -> Fate:
    """The artifacts that are there after a kill, and whether another try makes the store whole."""
    return _merging_fate(place, place / f"unpacking-{moment}", moment=moment)


def replacing_fate(place: Path, *, moment: int) -> Fate:
    """The same for a store with a damaged summary."""
    root = Path(shutil.copytree(place / "whole", place / f"replacing-{moment}"))
    (Store(root).summary_folder(TEXT) / "lines" / "0.txt").write_text("?")
    return _merging_fate(place, root, moment=moment)


def _merging_fate(place: Path, root: Path, *, moment: int) -> Fate:
    code = exit_code_of(lambda: unpack(place / ARCHIVE, Store(root)) and None, moment=moment)
    store = Store(root)
    after = [each.kind for each in (TEXT, JOINED) if _is_there(each, store)]
    again = exit_code_of(lambda: unpack(place / ARCHIVE, Store(root)) and None)
    assert again == 0
    # A lock that nobody holds is in nobody's way.
    files = {name: content for name, content in files_of(root).items() if name != "store.json.lease"}
    is_whole = files == files_of(place / "whole")
    return code, f"{' and '.join(after) or 'nothing'}, then {'all' if is_whole else 'less'}"


def _is_there(stage: Text | Joined, store: Store) -> bool:
    try:
        return store.lookup(stage, read=EVERYTHING) is not None
    except IsoglotError:
        return False


def main() -> None:
    """Print the fates of processes killed at every step-th moment."""
    place, step = Path(sys.argv[1]), 13 if "few" in sys.argv[2:] else 1
    origin = Store(place / "origin")
    for stage in (TEXT, JOINED):
        origin.ensure(stage)
        origin.log_folder(stage).mkdir(parents=True)
        (origin.log_folder(stage) / "log.txt").write_text("a log")
    pack(origin, place / ARCHIVE)
    write_pack(place / OLDER, [TEXT], origin, largest_file=8, always=())
    unpack(place / ARCHIVE, Store(place / "whole"))
    fates: dict[str, list[Fate]] = {}
    for name, fate_of in (("packing", packing_fate), ("unpacking", unpacking_fate), ("replacing", replacing_fate)):
        of_one = fates[name] = []
        while not of_one or of_one[-1][0] == KILLED:
            of_one.append(fate_of(place, moment=step * len(of_one)))
    print(json.dumps(fates))


if __name__ == "__main__":
    main()
