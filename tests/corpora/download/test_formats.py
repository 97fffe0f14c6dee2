"""Each format takes what is right, and names the line and the fault of what is not."""

from collections.abc import Callable

import pytest

from isoglot.corpora.download import checking

CONLLU = """# sent_id = 1
# text = Du pain est
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\t_
3.1\test\têtre\tAUX\t_\t_\t_\t_\t3:cop\t_

1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_

"""


def complaint(check: Callable[[checking.Numbered], None], text: str) -> tuple[int, str] | None:
    lines = text.removesuffix("\n").split("\n")
    try:
        check(enumerate(lines, start=1))
    except checking.FormatError as error:
        return error.line, str(error)
    return None


@pytest.mark.parametrize(
    ("check", "text", "line", "problem"),
    [
        (checking.check_text, "\n \n\t\n", 1, "all lines are blank"),
        (checking.check_conllu, CONLLU.replace("\t3\tcase\t_", "\t3\tcase"), 4, "9 columns where CoNLL-U has 10"),
        (
            checking.check_conllu,
            CONLLU.replace("\t3\tcase", "\t4\tcase"),
            4,
            "the head of word 1 is 4 in a sentence",
        ),
        (
            checking.check_conllu,
            CONLLU.replace("\t3\tcase", "\t1\tcase"),
            4,
            "the head of word 1 is 1 in a sentence",
        ),
        (checking.check_conllu, CONLLU.replace("\t3\tdet", "\t-1\tdet"), 5, "the head '-1' is not a whole number"),
        (checking.check_conllu, CONLLU.replace("\t3\tdet", "\t_\tdet"), 5, "the head '_' is not a whole number"),
        (checking.check_conllu, CONLLU.replace("2\tle", "3\tle"), 5, "word 3 stands where word 2 should"),
        (checking.check_conllu, CONLLU.removesuffix("\n\n"), 9, "no blank line ends the last sentence"),
        (checking.check_nli, "a\tb\tneutral\na\tb\n", 2, "2 columns where 3 or 4 were expected"),
        (checking.check_nli, "a\tb\tmaybe\n", 1, "the label 'maybe' is none of entailment, neutral, contradiction"),
        (checking.check_bio, "Paris\n", 1, "1 columns where a token and a tag were expected"),
        (checking.check_bio, "a\tO\nParis\tLOC\n", 2, "the tag 'LOC' is not O, B-something or I-something"),
        (checking.check_table, "en\tfr\nyes\n", 2, "1 columns where 2 were expected"),
        (checking.check_table, "en\n", 1, "1 columns where 2 were expected"),
    ],
)
def test_bad(check: Callable[[checking.Numbered], None], text: str, line: int, problem: str) -> None:
    found = complaint(check, text)
    assert found is not None
    assert found[0] == line
    assert found[1].startswith(problem)
