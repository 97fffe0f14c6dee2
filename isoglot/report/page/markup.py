"""HTML as a kind of text of its own, so that whatever is not markup is escaped, wherever it came from."""

from collections.abc import Iterable

from isoglot.report.figures.drawing import number, plain

VOID = frozenset(("br", "link", "meta"))


class Html(str):
    """Markup, which is put into other markup as it is."""

    __slots__ = ()


def tag(name: str, /, *content: str, **attributes: str | float | bool | None) -> Html:
    """Content that is no Html is escaped, as values of attributes are; True writes a bare name, None or False none.

    >>> tag("p", "a < b", class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b</p>'
    """
    written = "".join(_attribute(key.strip("_").replace("_", "-"), value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(content)}</{name}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Parts one after the other, escaped where they are plain text."""
    return Html(_safe(between).join(map(_safe, parts)))


def listed(items: Iterable[str], **attributes: str) -> Html:
    """A list without order; nothing where there are no items."""
    entries = [tag("li", item) for item in items]
    return tag("ul", *entries, **attributes) if entries else Html()


def folded(title: str, *content: str, **attributes: str | bool) -> Html:
    """What is shown when its title is clicked; on paper only if its class is "on-paper"."""
    return tag("details", tag("summary", title), *content, **attributes)


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    return f' {name}="{plain(value) if isinstance(value, str) else number(value)}"'


def _safe(text: str) -> str:
    return text if isinstance(text, Html) else plain(text)
