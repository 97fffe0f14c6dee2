"""Speed of several models that train on one GPU at once, each in its own process, as `isoglot run` has them.

    python bench/sharing.py [--scale narrow] [--models 1,2,4]

One JSON line for each number of models, with the tokens a second of all of them together, over the same ten seconds.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep, time

from pretraining import MEASURED, trainer_of

from isoglot.hardware import sharing_environment
from isoglot.machine import this_machine

SECONDS = 10.0
UPDATES_AT_ONCE = 20


def train(scale_name: str) -> None:
    """Print a line when warm, read when to begin, and print the tokens a second from then on."""
    scale, machine = MEASURED[scale_name], this_machine()
    with TemporaryDirectory() as folder:
        trainer = trainer_of("default", scale=scale, machine=machine, folder=Path(folder))

        def advance() -> None:
            for _ in range(UPDATES_AT_ONCE):
                trainer.advance()
            machine.wait()

        advance()
        print("warm", flush=True)
        begin = float(sys.stdin.readline())
        # Busy before, so that none of them has the GPU for itself at either end.
        while time() < begin:
            advance()
        start, rounds = time(), 0
        while time() < begin + SECONDS:
            advance()
            rounds += 1
        print(rounds * UPDATES_AT_ONCE * scale.batch * scale.window / (time() - start), flush=True)
        advance()


def together(number: int, scale_name: str, environment: dict[str, str]) -> float:
    command = [sys.executable, __file__, "--scale", scale_name, "--train"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    trainers = [subprocess.Popen(command, env=os.environ | environment, **pipes) for _ in range(number)]
    for trainer in trainers:
        assert trainer.stdout.readline() == "warm\n"
    for trainer in trainers:
        trainer.stdin.write(f"{time() + 2}\n")
        trainer.stdin.flush()
    return sum(float(trainer.communicate()[0]) for trainer in trainers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="narrow", choices=MEASURED)
    parser.add_argument("--models", default="1,2,4")
    parser.add_argument("--train", action="store_true", help="be one of the processes")
    wanted = parser.parse_args()
    if wanted.train:
        train(wanted.scale)
        return
    environment = sharing_environment()
    for number in map(int, wanted.models.split(",")):
        speed = together(number, wanted.scale, environment or {})
        row = {"bench": "sharing", "scale": wanted.scale, "models": number, "by_mps": environment is not None}
        print(json.dumps(row | {"tokens_per_second": round(speed)}), flush=True)
        sleep(1)


if __name__ == "__main__":
    main()
