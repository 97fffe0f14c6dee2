"""A first study file for some languages, written from what lies in a data folder."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isoglot.corpora.download.catalogue import DATA_SETS, DataFile, DataSet
from isoglot.corpora.readers.decompression import plain_name
from isoglot.study.conditions import CONDITIONS
from isoglot.study.languages import language_of
from isoglot.study.real_text import READS_FILES_OF, RESOURCES, SPLITS
from isoglot.study.scales import LAPTOP, Scale

PLACES = ("text/*", "eval/*/*", "*")
# Where labelled examples lie, and the corpora that are taken first; treebanks in simplified characters, as text is.
EXAMPLES = {
    "ner": ("eval/ner/{corpus}.{language}.{split}.bio", ("wikiann", "conll2003", "msra")),
    "parsing": ("eval/ud/{language}_{corpus}-ud-{split}.conllu", ("ewt", "gsdsimp", "gsd")),
}
NEVER_A_TREEBANK = re.compile("pud.*")  # parallel sentences, which Figures 5 to 8 may be compared by
STAND_INS = ("dev-b", "dev")  # for a test set that is not there
A_FIRST_LOOK = ("default", "no-anchors", "sep-emb", "sep-emb-l1-6")
NEEDS = {"wiki-cc": "text.other-domain.", "extra-anchors": "dictionary."}
A_LAPTOPS_LIMITS = (
    "#",
    "# A first look: it shows that all parts work on your data, and how far words in common carry. It is too small to",
    "# show whether structure emerges without them, or to rank conditions by one seed.",
)
WORDS_ON_A_LAPTOP = 1_500_000
COLUMN = 30  # where comments begin beside short keys


@dataclass(frozen=True, kw_only=True)
class Need:
    """One key of a study that names files, where they lie or should lie."""

    key: str
    use: str
    paths: tuple[str, ...]
    is_there: bool
    how: str = ""  # how to get what is not there


class DataFolder:
    """The files of a data folder, found by the languages in their names."""

    def __init__(self, root: Path, languages: Sequence[str], *, option: str = "") -> None:
        self.source, *self.targets = languages
        self.option = option  # what `isoglot data get` needs to be told of the folder
        files = sorted(path for pattern in PLACES for path in root.glob(pattern) if path.is_file())
        # By their names without a compression; where a file is there twice, the first will do.
        self.files: dict[str, str] = {}
        for path in files:
            inside = path.relative_to(root)
            self.files.setdefault(inside.with_name(plain_name(path)).as_posix(), inside.as_posix())

    def needs(self) -> list[Need]:
        """All that a study of these languages can read, in the order of a study file."""
        texts = [self._text(language) for language in (self.source, *self.targets)]
        others = [self._other_domain(target) for target in self.targets]
        pairs = [need for target in self.targets for need in self._of_pair(target)]
        return [*texts, *others, *pairs, *self._nli(), *self._examples("ner"), *self._examples("parsing")]

    def _need(self, key: str, use: str, *choices: Sequence[str]) -> Need:
        # The first choice that is there whole; if none is, the first is what to get.
        for paths in choices:
            if all(path in self.files for path in paths):
                return Need(key=key, use=use, paths=tuple(self.files[path] for path in paths), is_there=True)
        missing = [path for path in choices[0] if path not in self.files]
        how = "; ".join(dict.fromkeys(self._how_to_get(path) for path in missing))
        return Need(key=key, use=use, paths=tuple(choices[0]), is_there=False, how=how)

    def _how_to_get(self, path: str) -> str:
        for language in (*self.targets, self.source):
            for data_set, file in _known_files(language):
                if file.path == path:
                    fetch = f"isoglot data get {data_set.name} --languages {language}{self.option}"
                    return f"by hand, {data_set.by_hand}" if data_set.by_hand else fetch
        return "put a file of yours there"

    def _text(self, language: str) -> Need:
        name = re.escape(language)
        own = [path for path in self.files if re.fullmatch(rf"(text/)?(.+\.)?{name}\.txt", path)]
        apart = [path for path in own if re.match(r"(text/)?(other|cc100)\.", path)]
        dump, wiki = f"text/{language.replace('-', '_')}wiki-latest-pages-articles.xml", f"text/wiki.{language}.txt"
        first = [wiki, dump] if wiki in self.files else [dump]
        choices = [*first, *(path for path in own if path not in apart), *apart]
        use = f"{language_of(language).name}: a sentence or paragraph a line, or a dump of Wikipedia"
        need = self._need(f"text.{language}", use, *([path] for path in choices))
        return need if need.is_there else replace(need, how=f"{need.how}, or put text of yours at {wiki}")

    def _other_domain(self, target: str) -> Need:
        paths = (f"text/other.{target}.txt", f"text/cc100.{target}.txt")
        return self._need(f"text.other-domain.{target}", "for the row Wiki-CC", *([path] for path in paths))

    def _of_pair(self, target: str) -> Iterator[Need]:
        source, pair = self.source, f"{self.source}-{target}"
        xnli = [f"eval/xnli/xnli.{part}.{each}.tsv" for part in ("dev", "test") for each in (source, target)]
        treebanks = [f"eval/ud/{each}_pud-ud-test.conllu" for each in (source, target)]
        choices: dict[str, list[Sequence[str]]] = {
            "dictionary": [[f"eval/dict/{pair}.tsv"]],
            "retrieval": [*_tatoeba(source, target), treebanks],
            "word-translation": [[f"eval/muse/{pair}.5000-6500.txt"]],
            "word-mapping": [[f"eval/muse/{pair}.0-5000.txt"]],
            "mapping": [xnli, ["eval/xnli/xnli.15way.orig.tsv"], treebanks],
        }
        shown_in = {"dictionary": "the row Extra anchors", "retrieval": "emergence", "word-translation": "emergence"}
        shown_in |= {"word-mapping": "figure-4", "mapping": "figures 5 to 8"}
        for kind, of_kind in choices.items():
            yield self._need(f"{kind}.{pair}", f"{RESOURCES[kind]}: {shown_in[kind]}", *of_kind)

    def _nli(self) -> Iterator[Need]:
        source = self.source
        yield self._need(f"nli.{source}.train", SPLITS["train"], [f"eval/xnli/nli.train.{source}.tsv"])
        for language, split in ((source, "dev"), (source, "test"), *((target, "test") for target in self.targets)):
            path = f"eval/xnli/xnli.{split}.{language}.tsv"
            yield self._need(f"nli.{language}.{split}", SPLITS[split], [path])

    def _examples(self, task: str) -> Iterator[Need]:
        # One corpus for all of the source's examples, and for the targets' where it has them.
        template, _ = EXAMPLES[task]
        corpora = self._corpora(task, self.source, "train")
        for split in SPLITS:
            path = template.format(corpus=corpora[0], language=self.source, split=split)
            yield self._need(f"{task}.{self.source}.{split}", SPLITS[split], [path])
        for target in self.targets:
            key, others = f"{task}.{target}.test", self._corpora(task, target, "test")
            # Names have types, which differ between corpora; treebanks are of one kind.
            same = corpora[0] if task == "ner" else others[0]
            tries = [(same, "test"), *((same, part) for part in STAND_INS), *((each, "test") for each in others)]
            official, *more = (template.format(corpus=each, language=target, split=part) for each, part in tries)
            need = self._need(key, SPLITS["test"], [official], *([path] for path in more))
            is_official = not need.is_there or need.paths == (self.files.get(official),)
            stand_in = f"{SPLITS['test']}; a stand-in: scores on it are not scores on {Path(official).name}"
            yield need if is_official else replace(need, use=stand_in)

    def _corpora(self, task: str, language: str, split: str) -> list[str]:
        # Those that are there, or else the one that can be fetched.
        template, first = EXAMPLES[task]
        parts = {"language": re.escape(language), "split": split, "corpus": r"([\w-]+)"}
        pattern = template.replace(".", r"\.").format_map(parts)
        there = [match[1] for path in self.files if (match := re.fullmatch(pattern, path))]
        there = [corpus for corpus in there if not NEVER_A_TREEBANK.fullmatch(corpus)]
        return sorted(there, key=lambda each: (first.index(each) if each in first else len(first), each)) or [
            first[0] if task == "ner" or language == "en" else first[-1]
        ]


def _known_files(language: str) -> Iterator[tuple[DataSet, DataFile]]:
    return ((data_set, file) for data_set in DATA_SETS for file in data_set.files(language))


def _tatoeba(source: str, target: str) -> Iterator[list[str]]:
    # Its files are of English and another language, in the order of the study's pair.
    other = target if source == "en" else source
    paths = [file.path for data_set, file in _known_files(other) if data_set.name == "tatoeba"]
    if "en" in (source, target) and len(paths) == 2:
        own, english = paths
        yield [english, own] if source == "en" else [own, english]


def study_text(languages: Sequence[str], needs: Sequence[Need], *, scale: Scale, run: str) -> str:
    """A study file with every key explained; `run` is the command to run it by."""
    name, there = "-".join(languages), {need.key for need in needs if need.is_there}
    source, *targets = languages
    has_examples = [
        task
        for task in ("nli", "ner", "parsing")
        if {*(f"{task}.{source}.{split}" for split in SPLITS), *(f"{task}.{each}.test" for each in targets)} <= there
    ]
    is_small = scale == LAPTOP
    tasks = [task for task in has_examples if task != "nli" or not is_small] or ["ner", "parsing"]
    lacking = [row for row, key in NEEDS.items() if not any(each.startswith(key) for each in there)]
    conditions = A_FIRST_LOOK if is_small else [row for row in CONDITIONS if row not in lacking]
    rest = [row for row in CONDITIONS if row not in conditions]
    exhibits = ["vocabulary", "emergence", *(["table-1"] if has_examples else [])]
    lines = [
        f"# {' and '.join(language_of(each).name for each in languages)}, written by isoglot init.",
        "#",
        f"#     {run}",
        "#",
        "# Paths start from the folder that --data or ISOGLOT_DATA names, else from this file's own.",
        "# A file that is not there leaves its cells empty, and the run says which. All keys: docs/keys.md.",
        *(A_LAPTOPS_LIMITS if is_small else []),
        "",
        _line("name", name, "how results and reports are called"),
        _line("scale", scale.name, f"{scale.summary}; see  isoglot list"),
        _line("languages", languages, "the first is the source: models are chosen and fine-tuned in it"),
        "# Rows of the paper's Table 1, one model each; isoglot list says what each does."
        if not rest
        else f"# Rows of the paper's Table 1, one model each. Left out here:\n# {', '.join(rest)}.",
        _line("conditions", conditions),
        "# What is to be shown, and nothing else is made; figure-4 to figure-8, growth and baselines as well.",
        _line("exhibits", exhibits),
        *(["# nli as well, which takes hours on a laptop and stays near chance at this size."] if is_small else []),
        _line("tasks", tasks, f"learned in {source}, tested in all; pos reads the files of {READS_FILES_OF['pos']}"),
        _line("seeds", [0], "a model of each condition for each; several show how much is chance"),
        "",
        "# [change]                    # numbers and switches of the scale",
        f"# updates = {scale.updates:<18}# half of them take half the time",
        "",
        "[text]",
        *(_described(need, "text.") for need in needs if need.key.startswith("text.") and need.key.count(".") == 1),
        _words_line(is_small=is_small),
        "",
        "[text.other-domain]",
        *(_described(need, "text.other-domain.") for need in needs if need.key.startswith("text.other-domain.")),
        "",
        "[resources]",
        *(_described(need) for need in needs if not need.key.startswith("text.")),
        "",
        "# [words]                     # how lines become words: moses, jieba, characters or whitespace",
        *(f'# {each} = "{language_of(each).splitter.value}"' for each in languages),
        "# lowercase = false",
    ]
    return "\n".join(lines) + "\n"


def _value(value: str | int | Sequence[str] | Sequence[int]) -> str:
    if isinstance(value, int):
        return f"{value:_}"
    return f'"{value}"' if isinstance(value, str) else f"[{', '.join(map(_value, value))}]"


def _line(key: str, value: str | int | Sequence[str] | Sequence[int], comment: str = "") -> str:
    line = f"{key} = {_value(value)}"
    return f"{line:<{COLUMN}}# {comment}" if comment else line


def _words_line(*, is_small: bool) -> str:
    line = _line("most_words", WORDS_ON_A_LAPTOP, "of each language, to train on; all of them if left out")
    return line if is_small else f"# {line}"


def _described(need: Need, prefix: str = "") -> str:
    # Its use stands above, since paths are long.
    value = _value(need.paths[0] if len(need.paths) == 1 else need.paths)
    missing = "" if need.is_there else f"\n# NOT THERE YET: {need.how}"
    return f"# {need.use}{missing}\n{need.key.removeprefix(prefix)} = {value}"
