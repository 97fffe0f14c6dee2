"""Nothing becomes a number, a page, an export or a comparison before its bytes were compared with a record.

Two rules make sure of it. Outside of the functions named here, no code of the upper rooms opens a file. And the folders
that these functions are given come from the store's two doors, which check them, since no other code may ask the store
for a folder that was not checked.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "isoglot"
ROOMS = ("pipeline", "report", "cli")
OPENING = {"open", "read_text", "read_bytes", "load", "load_file", "safe_open", "memmap", "fromfile", "loadtxt"}
UNCHECKED = {"folder", "find_folder", "summary_folder", "partial_folder", "log_folder"}
READERS = {
    # Files of artifacts, in a folder that the caller has from a door or, in a stage, from Work.path.
    "pipeline/stages/examples.py:read_counts",
    "pipeline/stages/models.py:_opened",
    "pipeline/stages/training_log.py:evaluations",
    "pipeline/stages/models.py:stored_sizes",
    "pipeline/stages/training_log.py:unlearned",
    "pipeline/stages/scores.py:read_scores",
    "pipeline/stages/text.py:read_lines",
    "pipeline/stages/vocabulary.py:VocabularyStatistics._scores",
    "pipeline/stages/word_level_alignment.py:word_vectors",
    # The user's own files, whose digests are part of a stage's; and a cache of these digests.
    "pipeline/stages/source_files.py:_cached_sha256",
    # Files of isoglot's own.
    "report/claims/__init__.py:",
    "report/page/rendering.py:_page",
    "report/page/rendering.py:_vega",
    "report/page/section.py:",
    "report/provenance.py:departures",
    "report/findings/published.py:",
    # A report that the user names, and what an earlier one left beside it.
    "report/report_files.py:_text",
    "report/writing.py:_text_if_there",
    # Remarks of a log, which are no numbers.
    "report/state.py:last_remark",
    # Writes, or opens a browser.
    "cli/init.py:init",
    "cli/report.py:report",
    "pipeline/stages/text.py:write_lines",
}
NAMERS = {
    # They say whether something is there, or name a folder in a message or a link.
    "cli/pack.py:pack": {"find_folder"},
    "pipeline/measurements.py:pending_cells": {"find_folder"},
    "pipeline/model_names.py:named_side": {"find_folder"},
    "pipeline/stages/models.py:PretrainedEncoder.make": {"log_folder", "folder"},
    "report/tables/breakdown.py:_best_run": {"find_folder", "folder"},
    "report/planning/plan_costs.py:disk_need": {"partial_folder"},
    "report/results.py:Results._stages": {"find_folder"},
    "report/state.py:study_state": {"find_folder", "folder", "log_folder"},
    # A checkpoint has a checksum of its own.
    "report/training_curves.py:learning_curves": {"partial_folder"},
}


def scoped(node: ast.AST, scope: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every node below this one, with the function or method that it is part of."""
    for child in ast.iter_child_nodes(node):
        inner = scope
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and not scope.partition(".")[2]:
            inner = f"{scope}.{child.name}".removeprefix(".")
            # Functions inside of functions count as part of these.
            inner = scope if scope and isinstance(node, ast.FunctionDef) else inner
        yield inner, child
        yield from scoped(child, inner)


def called(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return None


def uses(source: str, file: str) -> tuple[set[str], dict[str, set[str]]]:
    """The places of a file that open something, and those that get unchecked folders of a store."""
    opening, unchecked = set(), defaultdict(set)
    for scope, node in scoped(ast.parse(source)):
        if called(node) in OPENING:
            opening.add(f"{file}:{scope}")
        match node:
            case ast.Attribute(value=ast.Name(id="store" | "place"), attr=name) if name in UNCHECKED:
                unchecked[f"{file}:{scope}"].add(name)
            case ast.Attribute(value=ast.Attribute(attr="store" | "_store"), attr=name) if name in UNCHECKED:
                unchecked[f"{file}:{scope}"].add(name)
            case ast.Attribute(attr="find_folder" | "summary_folder" | "partial_folder" | "log_folder" as name):
                unchecked[f"{file}:{scope}"].add(name)
    return opening, dict(unchecked)


def test_files_are_opened_by_few_readers_and_these_get_their_folders_from_a_door() -> None:
    opening: set[str] = set()
    unchecked: dict[str, set[str]] = {}
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            found = uses(path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix())
            opening |= found[0]
            unchecked |= found[1]
    assert opening == READERS, "read through Store.lookup(..., read=...) or Store.verified_folder, and name it here"
    foreign = {place: more for place, names in unchecked.items() if (more := names - NAMERS.get(place, set()))}
    assert foreign == {}, "a reader may not get a folder that the store has not checked"
    assert NAMERS.keys() - unchecked.keys() <= {"pipeline/stages/models.py:PretrainedEncoder.make"}
