"""Raw lines of five languages, read with an export by the code of its card, have our ids and our hidden states."""

import pytest
from real_data import DATA

from bench.exports import TATOEBA, agreement, raw_lines, untrained_model

FOLDER = DATA / "eval/tatoeba"


@pytest.mark.real_data
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no Tatoeba in {FOLDER}; name the data folder in ISOGLOT_DATA")
@pytest.mark.parametrize("code", TATOEBA)
@pytest.mark.usefixtures("jieba")  # quiet from then on
def test_raw_lines_have_our_ids_and_our_hidden_states(code: str) -> None:
    lines = raw_lines(DATA, code)
    found = agreement(untrained_model(DATA, code), lines)
    assert len(lines) == 1000
    assert found["same_ids"] >= 990, found["others"]
    assert found["hidden_states_differ_by"] <= 1e-5
    # jieba is no part of the tokenizer, so that its words must be found first.
    assert found["same_ids_of_the_tokenizer_alone"] >= 990 or code == "zh"
