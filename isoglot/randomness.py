"""Seeds for every random draw, derived from its purpose and time, so that no generator state is ever saved."""

from hashlib import blake2b


def derived_seed(*parts: int | str) -> int:
    """A 63-bit seed: derived_seed(run_seed, "masking", update) is the same in every process and on every platform."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
