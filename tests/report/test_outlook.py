"""Before a run: what is to be made, how words are found, what is missing."""

from pathlib import Path

from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.files import lease
from isoglot.pipeline.exhibits import cells
from isoglot.report.plan_tables import outlook, plan_table
from isoglot.store import PlannedStage, Store, plan
from isoglot.study.study import Study, parse_study, read_study, with_exhibits, with_seeds


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


def test_exhibits_that_the_command_line_leaves_nothing_of_are_told(tmp_path: Path) -> None:
    narrowed = "[only.table-1]\nseeds = [0]\n[only.emergence]\nseeds = [0]\n[change]"
    text = TINY_STUDY.replace("[change]", narrowed).replace('"table-1"]', '"table-1", "figure-4"]')
    study = parse_study(text, origin="tiny.toml")
    assert len(lines(study, tmp_path)) == 1
    _, told = lines(with_seeds(study, [1]), tmp_path)
    assert told == "  left out by --seeds: emergence, table-1 ([only] has seeds 0 there)"


def states(planned: tuple[PlannedStage, ...], store: Store) -> dict[str, str]:
    table = plan_table(planned, store)
    titles, shown = ([str(cell) for cell in column.cells] for column in table.columns[:2])
    return dict(zip(titles, shown, strict=True))


def test_a_plan_tells_what_is_next_and_what_is_in_work(tmp_path: Path) -> None:
    study = with_exhibits(parse_study(TINY_STUDY, origin="tiny.toml"), ["vocabulary"])
    targets, store = [cell.stage for cell in cells(study)], Store(tmp_path / "store")
    at_first = states(plan(targets, store), store)
    assert {title for title, state in at_first.items() if state == "next"} == {
        "text of ela, main domain",
        "text of oru, main domain",
    }
    text = next(each.stage for each in plan(targets, store) if each.stage.title == "text of ela, main domain")
    store.ensure(text)
    words = "words of ela, ela, main domain"
    later = states(plan(targets, store), store)
    assert (later[text.title], later[words], later["words of oru, oru, main domain"]) == ("done", "next", "to do")
    stage = next(each.stage for each in plan(targets, store) if each.stage.title == words)
    held = Path(f"{store.folder(stage)}.lease")
    with lease(held, waiting=lambda _: None):
        # A lock of this very process counts as another's: each opens the file anew.
        assert states(plan(targets, store), store)[words] == "in work"
    Path(f"{store.folder(stage)}.partial").mkdir()
    assert states(plan(targets, store), store)[words] == "interrupted"
