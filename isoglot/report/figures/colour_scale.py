"""Numbers as colours, dark to light, and the ink that can be read on each."""

# Cividis (Nunez et al., 2018): ever lighter from blue to yellow, alike for all kinds of eyes and on grey paper.
CIVIDIS = (
    *("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678"),
    *("#a59c74", "#c3b369", "#e1cc55", "#fee838"),
)
EQUAL_CONTRAST = 0.179
"""Luminance that black and white have the same contrast with."""


def scale_colour(share: float) -> str:
    """0 -> the darkest, 1 -> the lightest; beyond that, the nearer of both."""
    place = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    below = min(int(place), len(CIVIDIS) - 2)
    ends = zip(_channels(CIVIDIS[below]), _channels(CIVIDIS[below + 1]), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * (place - below)):02x}" for low, high in ends)


def ink_on(colour: str) -> str:
    """Black or white, whichever has more contrast."""
    return "#ffffff" if _luminance(colour) < EQUAL_CONTRAST else "#000000"


def _luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    linear = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (channel / 255 for channel in _channels(colour))
    ]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
