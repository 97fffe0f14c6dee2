"""What must be said where some models have several seeds: a line without a spread may have one seed alone."""

from collections.abc import Iterator, Mapping


def seed_notes(has_several: Mapping[str, bool]) -> Iterator[str]:
    """Of lines by their label, and whether each is a mean over seeds; nothing where none is."""
    if any(has_several.values()):
        alone = [label for label, several in has_several.items() if not several]
        of_one = f" Of one seed: {', '.join(alone)}." if alone else ""
        yield f"Means over seeds; thin lines go from the lowest seed to the highest.{of_one}"
