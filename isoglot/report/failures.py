"""What a run could not make, told at its end."""

from collections import defaultdict
from collections.abc import Sequence


def failures_in_brief(failed: Sequence[tuple[str, str]], *, num_skipped: int) -> str:
    """How many, and each different cause once; failed has the title and the cause of each."""
    titles_by_cause = defaultdict(list)
    for title, cause in failed:
        titles_by_cause[cause].append(title)
    lines = [f"{len(failed)} failed, {num_skipped} skipped for want of that:"]
    for cause, (first, *others) in titles_by_cause.items():
        lines.append(f"  {first}{f' and {len(others)} more' if others else ''}: {cause}")
    return "\n".join(lines)
