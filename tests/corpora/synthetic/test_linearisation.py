from collections.abc import Iterator
from dataclasses import replace

from isoglot.corpora.synthetic import Meanings, draw_meanings, realise, word_alignments
from isoglot.corpora.synthetic.inventory import (
    ABSENT,
    NEGATION,
    PUNCTUATION,
    VERB,
    Part,
    Role,
    WordClass,
    inventory,
    slot,
)
from isoglot.corpora.synthetic.lexicon import NUM_INFLECTIONS, lexicon, suffixes
from isoglot.study.synthetic_languages import Morphology, Side, SyntheticLanguage, WordOrder, World


class SlowSpeaker:
    """Says one meaning at a time, phrase by phrase, the way a grammar book would tell it."""

    def __init__(self, language: SyntheticLanguage, world: World) -> None:
        self.language, self.nouns = language, inventory(world).ranges[WordClass.NOUN]
        self.stems = lexicon(replace(language, morphology=Morphology.NONE), world)[::NUM_INFLECTIONS]
        self.plural, self.past, _, *self.cases = suffixes(language, world=world)

    def sentence(self, meanings: Meanings, row: int) -> list[tuple[int, str]]:
        concepts = meanings.concept_BS[row].tolist()
        verb = [(VERB, self.stems[concepts[VERB]] + (self.past if meanings.past_B[row] else ""))]
        if concepts[NEGATION] != ABSENT:
            verb.insert(0, (NEGATION, self.stems[concepts[NEGATION]]))
        phrases = {role: list(self.phrase(concepts, role, meanings.plural_BP[row, role])) for role in Role}
        subject, direct_object, oblique = phrases[Role.SUBJECT], phrases[Role.OBJECT], phrases[Role.OBLIQUE]
        stop = [(PUNCTUATION, self.stems[concepts[PUNCTUATION]])]
        return {
            WordOrder.SVO: subject + verb + direct_object + oblique + stop,
            WordOrder.SOV: subject + oblique + direct_object + verb + stop,
            WordOrder.VSO: verb + subject + direct_object + oblique + stop,
        }[self.language.order]

    def phrase(self, concepts: list[int], role: Role, plural: bool) -> Iterator[tuple[int, str]]:
        said = {part: concepts[slot(role, part)] for part in Part if concepts[slot(role, part)] != ABSENT}
        words = {part: (slot(role, part), self.stems[concept]) for part, concept in said.items()}
        if said.get(Part.HEAD) in self.nouns:
            case = "" if role is Role.SUBJECT else self.cases[role - 1]
            words[Part.HEAD] = (slot(role, Part.HEAD), words[Part.HEAD][1] + (self.plural if plural else "") + case)
        preposed = [Part.ADPOSITION] if self.language.adpositions is Side.BEFORE else []
        noun = [Part.HEAD, Part.ADJECTIVE] if self.language.adjectives is Side.AFTER else [Part.ADJECTIVE, Part.HEAD]
        for part in (*preposed, Part.DETERMINER, Part.NUMBER, *noun, Part.NAME, Part.FAMILY_NAME, Part.ADPOSITION):
            if part in words:
                yield words.pop(part)


def test_text_is_what_a_slow_speaker_says(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(world, count=300, seed=0)
    for language in languages:
        speaker = SlowSpeaker(language, world)
        spoken = [" ".join(word for _, word in speaker.sentence(meanings, row)) for row in range(len(meanings))]
        assert realise(meanings, language, world=world) == spoken


def test_alignments_join_the_words_for_one_slot(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(world, count=100, seed=1)
    for a, b in zip(languages, languages[5:], strict=False):
        for row, pairs in enumerate(word_alignments(meanings, a, b, world=world)):
            slots_a, slots_b = (
                [each for each, _ in SlowSpeaker(language, world).sentence(meanings, row)] for language in (a, b)
            )
            assert pairs == [(i, slots_b.index(each)) for i, each in enumerate(slots_a)]
