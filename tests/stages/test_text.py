"""Text is made up by seed, each language's apart."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from isoglot.artifacts import Store, run_plan
from isoglot.conditions import Domain
from isoglot.stages.text import LINES, SyntheticText, read_lines, write_lines
from isoglot.synthetic_languages import SyntheticLanguage, World

ELA = SyntheticLanguage(name="ela")


def lines_of(stage: SyntheticText, store: Store) -> list[str]:
    run_plan([stage], store)
    return read_lines(store.folder(stage) / LINES)


def test_languages_and_domains_say_different_things(tmp_path: Path) -> None:
    store = Store(tmp_path)
    text = SyntheticText(world=World(), language=ELA, domain=Domain.MAIN, sentences=50)
    # Numerals and punctuation are common to all, so equal meanings would show as equal numbers of words.
    others = (
        replace(text, language=SyntheticLanguage(name="oru")),
        replace(text, domain=Domain.OTHER),
        replace(text, world=World(seed=1)),
    )
    lengths = [[len(line.split()) for line in lines_of(stage, store)] for stage in (text, *others)]
    assert all(len(each) == 50 for each in lengths)
    assert all(each != lengths[0] for each in lengths[1:])


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1))
def test_lines_come_back_as_they_were_written(tmp_path_factory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / LINES
    write_lines(path, lines)
    assert read_lines(path) == lines
