"""How far pretraining is."""

from dataclasses import dataclass, field


@dataclass
class Progression:
    """What changes during training besides weights and moments; random draws depend on the update number alone."""

    update: int = 0
    positions: dict[str, int] = field(default_factory=dict)
    """Windows taken of each language."""
    micro_batch: int | None = None
    """Windows read at once until now; where there is dropout, other pieces of a batch would draw other masks."""
    best_perplexity: float = float("inf")
    losses: dict[str, list[float]] = field(default_factory=dict)
    """By language: the sum of losses since the last evaluation, and of how many updates."""
    skipped: list[int] = field(default_factory=list)
    """Updates that were left out."""
    guard: dict[str, float] = field(default_factory=dict)
    """What the guard goes by in leaving updates out."""
    log: list[dict[str, object]] = field(default_factory=list)
