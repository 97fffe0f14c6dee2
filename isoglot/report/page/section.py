"""A part of the page: what it is called, what it is in two sentences, what it shows, and the pictures in it."""

from dataclasses import dataclass

from isoglot.report.figures.picture import Picture
from isoglot.report.page.markup import Html, tag


@dataclass(frozen=True, kw_only=True)
class Section:
    anchor: str
    title: str
    short_title: str
    """For the list of sections."""
    explanation: str
    """For someone who has not read the paper."""
    body: Html
    lead: Html | None = None
    """What stands first, before any explanation."""
    pictures: tuple[Picture, ...] = ()
    has_published: bool = False
    """Whether the paper's numbers can be shown beside ours."""

    def html(self) -> Html:
        heading = tag("h2", self.title, tag("a", "#", href=f"#{self.anchor}", class_="anchor", aria_label="Link here"))
        return tag(
            "section",
            tag("div", heading, _switch() if self.has_published else Html(), class_="heading"),
            self.lead or Html(),
            tag("p", self.explanation, class_="explanation"),
            self.body,
            id=self.anchor,
        )


def _switch() -> Html:
    """The script makes it work; without one, the paper's numbers are always shown."""
    return tag(
        "button", "Beside the paper", type="button", class_="switch", data_switch="published", aria_pressed="true"
    )
