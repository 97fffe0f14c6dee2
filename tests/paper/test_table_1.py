"""Table 1 of the paper, transcribed by hand, is TABLE_1."""

import pytest

from isoglot.study.conditions import CONDITIONS, TABLE_1, Anchors, Condition, Domain, Segmentation, TableKind
from isoglot.study.scales import PAPER

COLUMNS = ("model", "domain", "bpe_merges", "anchors", "share_parameters", "softmax")
TRANSCRIBED = """
    Default         | Wiki-Wiki | 80k     | all   | all            | shared
    Wiki-CC         | Wiki-CC   | -       | -     | -              | -
    No anchors      | -         | 40k/40k | 0     | -              | -
    Default anchors | -         | 40k/40k | -     | -              | -
    Extra anchors   | -         | -       | extra | -              | -
    Sep Emb         | -         | 40k/40k | 0*    | Sep Emb        | lang-specific
    Sep L1-3        | -         | 40k/40k | -     | Sep L1-3       | -
    Sep L1-6        | -         | 40k/40k | -     | Sep L1-6       | -
    Sep Emb + L1-3  | -         | 40k/40k | 0*    | Sep Emb + L1-3 | lang-specific
    Sep Emb + L1-6  | -         | 40k/40k | 0*    | Sep Emb + L1-6 | lang-specific
"""
NAMES = (
    "default",
    "wiki-cc",
    "no-anchors",
    "default-anchors",
    "extra-anchors",
    "sep-emb",
    "sep-l1-3",
    "sep-l1-6",
    "sep-emb-l1-3",
    "sep-emb-l1-6",
)
SECTIONS = ("4", "4.1", "4.2", "4.2", "4.2", "4.3", "4.3", "4.3", "4.3", "4.3")


def published_rows() -> list[dict[str, str]]:
    rows = [
        dict(zip(COLUMNS, (cell.strip() for cell in line.split("|")), strict=True))
        for line in TRANSCRIBED.strip().splitlines()
    ]
    # "- denote the same as the first row (Default)"
    return [{column: rows[0][column] if cell == "-" else cell for column, cell in row.items()} for row in rows]


def domain(condition: Condition) -> str:
    return {Domain.MAIN: "Wiki-Wiki", Domain.OTHER: "Wiki-CC"}[condition.target_domain]


def bpe_merges(condition: Condition) -> str:
    if condition.segmentation is Segmentation.JOINT:
        return f"{PAPER.merges // 1000}k"
    return "/".join([f"{PAPER.merges // 2 // 1000}k"] * 2)


def anchors(condition: Condition) -> str:
    if condition.anchors is Anchors.EXTRA:
        return "extra"
    return {TableKind.PREFIXED: "0", TableKind.SEPARATE: "0*"}.get(condition.tables, "all")


def share_parameters(condition: Condition) -> str:
    layers = sorted(condition.separate.layers)
    assert layers == list(range(1, len(layers) + 1)), "the paper separates the bottom layers only"
    parts = (["Emb"] if condition.separate.embeddings else []) + ([f"L1-{len(layers)}"] if layers else [])
    return f"Sep {' + '.join(parts)}" if parts else "all"


def softmax(condition: Condition) -> str:
    return "lang-specific" if condition.tables is TableKind.SEPARATE else "shared"


def test_names_order_and_sections() -> None:
    assert tuple(condition.name for condition in TABLE_1) == NAMES
    assert all(CONDITIONS[condition.name] is condition for condition in TABLE_1)
    assert tuple(condition.section for condition in TABLE_1) == SECTIONS
    assert [condition.label for condition in TABLE_1] == [row["model"] for row in published_rows()]


@pytest.mark.parametrize("reading", [domain, bpe_merges, anchors, share_parameters, softmax])
def test_columns(reading) -> None:
    column = [row[reading.__name__] for row in published_rows()]
    assert [reading(condition) for condition in TABLE_1] == column


def test_separated_layers_keep_a_shared_union_vocabulary() -> None:
    kinds = {condition.name: condition.tables for condition in TABLE_1}
    assert kinds["sep-l1-3"] is kinds["sep-l1-6"] is kinds["default-anchors"] is TableKind.UNION
    assert kinds["default"] is kinds["wiki-cc"] is kinds["extra-anchors"] is TableKind.JOINT
