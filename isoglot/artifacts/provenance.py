"""Where an artifact comes from: commit, versions and host, none of which is part of its identity."""

import os
from functools import cache
from pathlib import Path

PACKAGES = (
    "isoglot",
    "torch",
    "numpy",
    "safetensors",
    "sacremoses",
    "jieba",
    "zstandard",
    "datasets",
    "transformers",
    "scipy",
)


def host() -> str:
    """The machine's name."""
    return os.uname().nodename


@cache
def commit() -> str | None:
    """The commit isoglot runs from, "-dirty" if its files were changed since; None if it was installed as a wheel."""
    import subprocess  # with importlib.metadata below, most of the time it would take to import this package

    checkout = Path(__file__).parents[2]
    # Without this check, an isoglot installed somewhere below another repository would show that one's commit.
    if not (checkout / ".git").exists():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that write artifacts, without importing them."""
    import platform
    from importlib import metadata

    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
