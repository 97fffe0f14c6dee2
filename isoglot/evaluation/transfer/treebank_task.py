"""What tasks on treebanks have in common: where their sentences come from, and that their words are read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from isoglot.corpora.synthetic import draw_meanings, trees
from isoglot.corpora.words import whole_words
from isoglot.evaluation.transfer.conllu import Tree, conllu_text, read_conllu
from isoglot.evaluation.transfer.task import Recipe, Segments, Task
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World


class TreebankTask(Task[Tree]):
    """Examples are trees, whatever of them is to be predicted."""

    suffix = ".conllu"
    scorer = "udtools: udeval -v GOLD PREDICTED"
    recipe = Recipe.WORDS

    def read_official(self, paths: Sequence[Path], *, splitting: WordSplitting) -> tuple[list[Tree], dict[str, int]]:
        return [
            replace(tree, words=whole_words(tree.words, splitting)) for path in paths for tree in read_conllu(path)
        ], {}

    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[Tree]:
        meanings = draw_meanings(world, count=count, seed=seed)
        return [
            Tree(words=tree.words, upos=tree.upos, heads=tree.heads, relations=tree.relations)
            for tree in trees(meanings, language, world=world)
        ]

    def read(self, path: Path) -> list[Tree]:
        return read_conllu(path)

    def text(self, examples: Sequence[Tree]) -> str:
        return conllu_text(examples)

    def segments(self, example: Tree) -> Segments:
        return (example.words,)
