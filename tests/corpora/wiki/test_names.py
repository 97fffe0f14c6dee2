import pytest

from isoglot.corpora.wiki.dump import is_disambiguation


@pytest.mark.parametrize(
    "mark",
    [
        "{{disambig}}",
        "{{Disambiguation|geo}}",
        "{{hndis|Ada}}",
        "{{Human name disambiguation}}",
        "{{ Homonymie }}",
        "{{Homonymie de personnes}}",
        "{{Begriffsklärung}}",
        "{{неоднозначность}}",
        "{{消歧义}}",
        "{{消歧義頁}}",
        "__DISAMBIG__",
    ],
)
def test_disambiguation_pages_are_known_by_their_template(mark: str) -> None:
    assert is_disambiguation(f"'''Mercury''' may mean:\n* [[a]]\n{mark}")


@pytest.mark.parametrize(
    "wikitext",
    [
        "{{about|x||Mercury (disambiguation)}}",
        "{{disambiguation needed|date=May}}",
        "a disambig",
        "{{dabbling}}",
        "{{x|dab}}",
    ],
)
def test_pages_that_only_mention_disambiguation_are_articles(wikitext: str) -> None:
    assert not is_disambiguation(wikitext)
