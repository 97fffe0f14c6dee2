"""Settings as people read them."""

ABSENT: tuple[object, ...] = (None, [], {})


def plain_text(value: object) -> str:
    """ "yes", "0.1, 0.2", or of a table "order svo, script latin"."""
    match value:
        case dict():
            return ", ".join(_entry(str(key), member) for key, member in value.items() if member not in ABSENT)
        case list() | tuple():
            return ", ".join(map(plain_text, value))
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
    return str(value)


def _entry(key: str, value: object) -> str:
    words = key.removeprefix("is_").replace("_", " ")
    return f"{words} ({plain_text(value)})" if isinstance(value, dict) else f"{words} {plain_text(value)}"
