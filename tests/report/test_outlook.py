"""Before a run: what is to be made, how words are found, what is missing."""

from pathlib import Path

from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.artifacts import Store, plan
from isoglot.exhibits import cells
from isoglot.report.outlook import outlook
from isoglot.study import Study, parse_study, read_study


def lines(study: Study, folder: Path) -> list[str]:
    return list(outlook(study, plan([cell.stage for cell in cells(study)], Store(folder / "store"))))


def test_made_up_languages_need_one_line(tmp_path: Path) -> None:
    (line,) = lines(parse_study(TINY_STUDY, origin="tiny.toml"), tmp_path)
    assert line.startswith("tiny: 0 artifacts done, 61 to make, 61k tokens of training, about ")


def test_real_languages_are_told_with_their_splitters_and_gaps(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    text = path.read_text().replace('"fr"]', '"fr", "sw", "th"]').replace("[text]\n", '[text]\nsw = "a"\nth = "b"\n')
    path.write_text(text + '[words]\nlowercase = true\nfr = "whitespace"\n')
    first, *rest = lines(read_study(path), tmp_path)
    of_words, of_gaps = rest[:4], rest[4:]
    assert first == (
        "real: 0 artifacts done, 32 to make; how long that takes is seen when it has run once in this store"
    )
    assert [line.split(" (")[0] for line in of_words] == [
        "  words of en: moses",
        "  words of fr: whitespace",
        "  words of sw: moses",
        "  words of th: characters",
    ]
    assert all(", in lower case" in line for line in of_words)
    assert of_words[2].endswith("; not registered: the rules of Moses for this code, or else for English")
    assert len(of_gaps) == 4
    assert of_gaps[0].startswith("  no data for default, no-anchors, default-anchors,")
    assert "en-sw (vocabulary): " in of_gaps[0]
    assert of_gaps[0].endswith("/a: No such file or directory")
    assert of_gaps[1].endswith("text.other-domain.sw is not given: name a file of another domain there")
