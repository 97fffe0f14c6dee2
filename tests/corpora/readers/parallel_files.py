"""Small parallel files for tests of their readers."""

from pathlib import Path

EN_FR = ("en", "fr")
OFFICIAL_HEADER = "language\tgold_label\tsentence1_parse\tsentence1\tsentence2\tpromptID\tpairID\tgenre"


def written(folder: Path, *contents: str, names: str = "ab") -> list[Path]:
    paths = [folder / name for name, _ in zip(names, contents, strict=False)]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content, encoding="utf-8", newline="")
    return paths


def word(number: int, form: str) -> str:
    return "\t".join([str(number), form, *"_" * 8])


def sentence(sent_id: str, text: str) -> str:
    return f"# newdoc\n# sent_id = {sent_id}\n# text = {text}\n# text_en = other\n{word(1, 'x')}\n{word(2, 'y')}\n\n"
