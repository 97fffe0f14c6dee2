"""Recipes for scale `small`, compared on English and German alone, each with the same seconds of one GPU for a model.

    python bench/recipe.py measure [--seconds 20] [--recipes base,width-64]
    python bench/recipe.py run --data DATA --store STORE [--recipes base,width-64]
    python bench/recipe.py table --data DATA --store STORE

The first needs a GPU that does nothing else: it finds each recipe's speed, and writes its study into results/recipe
with as many updates as the seconds allow. The second runs these studies, side by side. The third writes the table of
all that were run. German is in no row of the paper's Table 1, so nothing that the paper reports is looked at before
the recipe is fixed.

The criterion, written down before the first run: for each recipe the mean of three scores, each a mean over Default,
No anchors, Sep L1-3 and Sep Emb. The scores are retrieval with no map (P@1 of the best layer, centred), German NER (F1)
and German parsing (LAS), the last two above what the same model reaches untrained.
"""

import argparse
import csv
import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from isoglot.hardware import sharing_environment
from isoglot.machine import this_machine
from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement, measurements
from isoglot.report.provenance import provenance
from isoglot.store import Store
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study

FOLDER = Path("results/recipe")
CONDITIONS = ("default", "no-anchors", "sep-l1-3", "sep-emb")
SCORES = {"retrieval": ("retrieval_p1", None), "ner": ("f1", "ner"), "parsing": ("las", "parsing")}
WARM_UPDATES, MEASURED_UPDATES = 20, 200
AT_ONCE = 3
"""Recipes in work at a time: one trains while others fine-tune."""
WORKERS = 4
"""Processes of each: fine-tuning a narrow model leaves most of a GPU idle."""
RECIPES: dict[str, dict[str, object]] = {
    "base": {},
    "equal-starts": {"own_parts_start": "equal"},
    "width-64": {"shape.width": 64, "shape.feed_forward": 256},
    "width-96": {"shape.width": 96, "shape.feed_forward": 384},
    "width-192": {"shape.width": 192, "shape.feed_forward": 768},
    "mask-25": {"mask_rate": 0.25},
    "mask-40": {"mask_rate": 0.4},
    "rate-4e-3": {"optimization.learning_rate": 4e-3},
    "rate-1e-3": {"optimization.learning_rate": 1e-3},
    "windows-256": {"batch": 256},
    "windows-1024": {"batch": 1024},
    "weight-decay": {"optimization.weight_decay": 0.1},
    "dropout": {"shape.dropout": 0.1, "shape.attention_dropout": 0.1},
    # Of the first nine that were run, more masking helped most; with it, what may help beside it.
    "mask-25-equal-starts": {"mask_rate": 0.25, "own_parts_start": "equal"},
    "mask-25-rate-4e-3": {"mask_rate": 0.25, "optimization.learning_rate": 4e-3},
    # What took the scale laptop off the unigram plateau (docs/training.md).
    "mask-25-nearby": {"mask_rate": 0.25, "attention_start": "nearby", "shape.position_init_std": 0.18},
    "mask-25-weight-decay": {"mask_rate": 0.25, "optimization.weight_decay": 0.1},
    "mask-25-windows-256": {"mask_rate": 0.25, "batch": 256},
    "mask-25-windows-256-weight-decay": {"mask_rate": 0.25, "batch": 256, "optimization.weight_decay": 0.1},
}
"""The settings that each recipe changes in the base."""
# The best of these with tokens that start nearer to each other, and as long as the models of Table 1; with both starts.
RECIPES["spread-1g"] = RECIPES["mask-25-windows-256-weight-decay"] | {
    "shape.token_init_std": 0.02,
    "updates": 61_440,
    "evaluations": 4,
    "moments": 8,
    "language_exponent": 0.0,
    "pair_tasks.learning_rates": [2e-4],
}
RECIPES["spread-1g-equal-starts"] = RECIPES["spread-1g"] | {"own_parts_start": "equal"}
LONG = ("spread-1g", "spread-1g-equal-starts")
"""Not of all conditions and seeds; README.md says which are there. They have all that Table 1's models have."""
MORE_OF_LONG = """\
word-translation.en-de = "eval/muse/en-de.5000-6500.txt.gz"
nli.en.train = "eval/xnli/nli.train.en.tsv.gz"
nli.en.dev = "eval/xnli/xnli.dev.en.tsv.gz"
nli.en.test = "eval/xnli/xnli.test.en.tsv.gz"
nli.de.test = "eval/xnli/xnli.test.de.tsv.gz"
mapping.en-de = [
    "eval/xnli/xnli.dev.en.tsv.gz", "eval/xnli/xnli.dev.de.tsv.gz",
    "eval/xnli/xnli.test.en.tsv.gz", "eval/xnli/xnli.test.de.tsv.gz",
]
"""
SEEDS = {name: [0, 1] for name in ("mask-25", "mask-25-windows-256", "mask-25-windows-256-weight-decay", *LONG)}
"""The recipes that came out best with seed 0 were run with another; all others with seed 0 alone."""
BASE: dict[str, object] = {
    "shape.width": 128,
    "shape.heads": 4,
    "shape.feed_forward": 512,
    "shape.token_init_std": "none",
    "batch": 512,
    "mask_rate": 0.15,
    "optimization.learning_rate": 2e-3,
    "optimization.weight_decay": 0.0,
    "optimization.decay": "linear-tail",
    "evaluations": 3,
    "word_tasks.learning_rates": [6e-4],
    "task_norm": False,
}
STUDY = """\
# Written by bench/recipe.py.
name = "recipe-{name}"
scale = "small"
languages = ["en", "de"]
conditions = {conditions}
exhibits = {exhibits}
tasks = ["ner", "parsing"]
seeds = {seeds}

[change]
{change}

[text]
en = "text/large.en.txt.xz"
de = "text/large.de.txt.xz"

[resources]
retrieval.en-de = ["eval/tatoeba/tatoeba.deu-eng.eng.gz", "eval/tatoeba/tatoeba.deu-eng.deu.gz"]
ner.en.train = "eval/ner/wikiann.en.train.bio.gz"
ner.en.dev = "eval/ner/wikiann.en.dev.bio.gz"
ner.en.test = "eval/ner/wikiann.en.test.bio.gz"
ner.de.test = "eval/ner/wikiann.de.test.bio.gz"
parsing.en.train = "eval/ud/en_ewt-ud-train.conllu.gz"
parsing.en.dev = "eval/ud/en_ewt-ud-dev.conllu.gz"
parsing.en.test = "eval/ud/en_ewt-ud-test.conllu.gz"
parsing.de.test = "eval/ud/de_gsd-ud-test.conllu.gz"
"""


def study_text(name: str, *, updates: int) -> str:
    change = BASE | RECIPES[name]
    change.setdefault("updates", updates)
    # An untrained model is the same for all recipes of one shape and one kind of start: it is fine-tuned once.
    with_floors = floors_of(name) == name
    text = STUDY + MORE_OF_LONG if name in LONG else STUDY
    return text.format(
        name=name,
        conditions=json.dumps(CONDITIONS),
        exhibits=json.dumps(["emergence", "table-1", *(["baselines"] if with_floors else [])]),
        seeds=json.dumps(SEEDS.get(name, [0])),
        change="\n".join(f"{key} = {json.dumps(value)}" for key, value in change.items()),
    )


def floors_of(name: str) -> str:
    """The first recipe whose untrained models have the same shape and start."""
    spreads = ("shape.position_init_std", "shape.token_init_std")
    keys = ("own_parts_start", "attention_start", "shape.width", "shape.dropout", *spreads)
    return next(other for other in RECIPES if all(RECIPES[other].get(key) == RECIPES[name].get(key) for key in keys))


def read_study(name: str, *, data: Path) -> Study:
    path = FOLDER / f"{name}.toml"
    return parse_study(path.read_text(encoding="utf-8"), origin=str(path), data=data)


def tokens_per_second(study: Study) -> float:
    """Tokens a second of Default, on made-up text."""
    from pretraining import Learner, advance, trainer_of  # which load torch and transformers

    machine, scale = this_machine(), study.scale
    with TemporaryDirectory() as folder:
        trainer = trainer_of("default", scale=scale, machine=machine, folder=Path(folder))
        tokens = scale.batch * scale.window
        learner = Learner(advance=partial(advance, trainer), threads=1, machine=machine, tokens=tokens)
        learner.tokens_per_second(updates=WARM_UPDATES)
        return learner.tokens_per_second(updates=MEASURED_UPDATES)


def measure(names: list[str], *, seconds: float) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = FOLDER / f"{name}.toml"
        if not path.exists():  # so that an interrupted search goes on with the same studies
            study = parse_study(study_text(name, updates=1000), origin=str(path), data=Path())
            speed = tokens_per_second(study)
            updates = max(100, int(round(seconds * speed / (study.scale.batch * study.scale.window), -2)))
            print(f"{name}: {speed:,.0f} tokens a second, {updates:,} updates", flush=True)
            path.write_text(study_text(name, updates=updates), encoding="utf-8")


def run(names: list[str], *, data: Path, store: Path) -> None:
    # All runs must share one service: those of two services would take turns.
    environment = os.environ | (sharing_environment() or {})

    def run_one(name: str) -> None:
        command = ["isoglot", "run", str(FOLDER / f"{name}.toml"), "--data", str(data), "--store", str(store)]
        command += ["--workers", str(WORKERS)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(name, "exit", done.returncode, *done.stdout.splitlines()[-3:], sep="\n  ", flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(run_one, names))


def rows(studies: dict[str, Study], *, store: Path) -> Iterator[dict[str, object]]:
    """One row for each recipe, condition and seed that has all of its scores. Floors are those of seed 0."""
    found = {name: measurements(study, Store(store))[0] for name, study in studies.items()}
    for name, numbers in found.items():
        scale = studies[name].scale
        for condition, seed in product(CONDITIONS, studies[name].seeds):
            scores = {score: best(numbers, score, condition, seed) for score in SCORES}
            floors = {score: best(found.get(floors_of(name), []), score, condition, 0, UNTRAINED) for score in SCORES}
            if None not in (*scores.values(), *floors.values()):
                yield {
                    "recipe": name,
                    "condition": condition,
                    "seed": seed,
                    "updates": scale.updates,
                    "tokens": scale.tokens,
                    **{score: round(value, 2) for score, value in scores.items()},
                    **{f"{score}_untrained": round(value, 2) for score, value in floors.items()},
                }


def best(numbers: list[Measurement], score: str, condition: str, seed: int, variant: str | None = None) -> float | None:
    """The score in German, at the best layer where there are several."""
    metric, task = SCORES[score]
    wanted = (metric, task, condition, seed, variant, "de", None)
    values = [
        each.value
        for each in numbers
        if (each.metric, each.task, each.condition, each.seed, each.variant, each.language, each.update) == wanted
    ]
    return max(values, default=None)


def table(*, data: Path, store: Path) -> None:
    studies = {name: read_study(name, data=data) for name in RECIPES if (FOLDER / f"{name}.toml").exists()}
    found = list(rows(studies, store=store))
    if not found:
        print(f"{FOLDER} has no recipe that was run: python bench/recipe.py run --data DATA")
        return
    with (FOLDER / "grid.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)
    # The last has all files that any of them has, and its growth those of growth.csv.
    last = list(studies.values())[-1]
    read = provenance(last.replace(exhibits=[*last.exhibits, "growth"]), Store(store)).data_files
    files = {"data_files": [asdict(file) for file in read]}
    (FOLDER / "provenance.json").write_text(json.dumps(files, indent=1) + "\n", encoding="utf-8")
    print("| recipe | updates | tokens | retrieval | NER above floor | LAS above floor | criterion |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, seed in product(RECIPES, (0, 1)):
        own = [row for row in found if (row["recipe"], row["seed"]) == (name, seed)]
        if len(own) == len(CONDITIONS):
            means = [fmean(row["retrieval"] for row in own)]
            means += [fmean(row[score] - row[f"{score}_untrained"] for row in own) for score in ("ner", "parsing")]
            cells = [f"{each:.1f}" for each in (*means, fmean(means))]
            label = f"{name}, seed {seed}" if seed else name
            print(f"| {label} | {own[0]['updates']:,} | {own[0]['tokens'] / 1e6:,.0f}M | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "run", "table"], nargs="?", default="table")
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--seconds", type=float, default=20.0, help="of one GPU, for each model")
    parser.add_argument("--recipes", default=",".join(RECIPES))
    wanted = parser.parse_args()
    names = wanted.recipes.split(",")
    if wanted.what == "measure":
        measure(names, seconds=wanted.seconds)
    elif wanted.what == "run":
        run(names, data=wanted.data, store=wanted.store)
    else:
        table(data=wanted.data, store=wanted.store)


if __name__ == "__main__":
    main()
