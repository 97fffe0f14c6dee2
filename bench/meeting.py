"""Do two languages without a word in common meet in one model? By how its token and position vectors start.

    python bench/meeting.py run [--study demo] [--store store] [--seeds 0,1,2] [--tokens 1,0.283] [--positions 1.7]
    python bench/meeting.py table ...

The first trains models of No anchors and Sep Emb for each start and seed, the second prints a table of what is there:
sentences that find their translation with no map (P@1 in percent at the best layer, centred), one number for each seed.
Spreads are multiples of XLM's, which is one over the root of the model's width for tokens and positions alike. Parts of
a language's own, all but its tokens, start as equal copies unless --own-parts says otherwise.
"""

import argparse
from itertools import product
from pathlib import Path
from statistics import fmean

import isoglot as ig

CONDITIONS = ("no-anchors", "sep-emb")


def started(study: ig.Study, *, tokens: float, positions: float, own_parts: str) -> ig.Study:
    unit = study.scale.shape.width**-0.5
    # Two digits, as a person would write them.
    spreads = {"token_init_std": float(f"{tokens * unit:.2g}"), "position_init_std": float(f"{positions * unit:.2g}")}
    return study.replace(change={"shape": spreads, "own_parts_start": own_parts})


def retrieval(results: ig.Results, condition: str) -> dict[int, float]:
    """By seed, at the best layer."""
    best: dict[int, float] = {}
    for row in results.to_dicts():
        found = (row["metric"], row["condition"], row["variant"], row["update"])
        # Both directions are measured; the target language's is the one that reports show.
        if found == ("retrieval_p1", condition, None, None) and row["language"] == row["languages"][-1]:
            best[row["seed"]] = max(best.get(row["seed"], 0.0), row["value"])
    return dict(sorted(best.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"], nargs="?", default="table")
    parser.add_argument("--study", default="demo")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--seeds", default="0,1,2,3,4,5,6,7")
    parser.add_argument("--tokens", default="1,0.566,0.283,0.141,0.0566", help="spreads of token vectors")
    parser.add_argument("--positions", default="1.7", help="spreads of position vectors")
    parser.add_argument("--own-parts", default="equal", help="how they start: equal or independent")
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    seeds = [int(seed) for seed in wanted.seeds.split(",")]
    tokens, positions = ([float(each) for each in spreads.split(",")] for spreads in (wanted.tokens, wanted.positions))
    study = ig.Study.load(wanted.study, data=wanted.data).with_conditions(*CONDITIONS)
    study = study.replace(seeds=seeds, exhibits=["emergence"])
    starts = {
        (of_tokens, of_positions): started(study, tokens=of_tokens, positions=of_positions, own_parts=wanted.own_parts)
        for of_tokens, of_positions in product(tokens, positions)
    }
    if wanted.what == "run":
        for each in starts.values():
            ig.run(each, store=wanted.store, workers=wanted.workers)
    print(f"| tokens | positions | condition | {' | '.join(f'seed {seed}' for seed in seeds)} | mean |")
    print("|---:|---:|---|" + "---:|" * (len(seeds) + 1))
    for condition, ((of_tokens, of_positions), each) in product(CONDITIONS, starts.items()):
        found = retrieval(ig.Results(each, store=wanted.store), condition)
        cells = [f"{found[seed]:.1f}" if seed in found else "" for seed in seeds]
        mean = f"{fmean(found.values()):.1f}" if len(found) == len(seeds) else ""
        print(f"| {of_tokens:.2g} | {of_positions:.2g} | {condition} | {' | '.join(cells)} | {mean} |")


if __name__ == "__main__":
    main()
