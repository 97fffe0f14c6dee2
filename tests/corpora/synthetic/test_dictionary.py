import pytest

from isoglot.corpora.synthetic import dictionary, draw_meanings, realise, word_alignments
from isoglot.corpora.synthetic.lexicon import slice_of
from isoglot.errors import IsoglotError
from isoglot.study.synthetic_languages import SyntheticLanguage, World


def test_all_aligned_words_are_in_the_dictionary_and_nothing_else(
    tiny_world: World, languages: list[SyntheticLanguage]
) -> None:
    meanings = draw_meanings(tiny_world, count=8_000, seed=0)
    for a, b in zip(languages, languages[7:], strict=False):
        lines = (realise(meanings, language, world=tiny_world) for language in (a, b))
        aligned = {
            (words_a[i], words_b[j])
            for words_a, words_b, pairs in zip(
                *([line.split() for line in text] for text in lines),
                word_alignments(meanings, a, b, world=tiny_world),
                strict=True,
            )
            for i, j in pairs
        }
        gold = dictionary(a, b, world=tiny_world)
        assert len(gold) == len(set(gold))
        assert aligned - set(gold) == {(".", ".")}
        assert len(set(gold) - aligned) <= len(gold) // 20


def test_names_that_would_draw_on_the_same_words_are_refused(world: World) -> None:
    assert slice_of("hill") == slice_of("vale")
    with pytest.raises(IsoglotError, match="another name"):
        dictionary(SyntheticLanguage(name="hill"), SyntheticLanguage(name="vale"), world=world)
