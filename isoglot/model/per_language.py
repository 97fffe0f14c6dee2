"""The sharing map: one module that all languages share, or one for each (section 4.3, Figure 1)."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

from torch import nn

from isoglot.errors import IsoglotError

SHARED = "shared"
Part = TypeVar("Part", bound=nn.Module)


class PerLanguage(nn.Module, Generic[Part]):
    """Holds a part of the model under its owner's name, so that a checkpoint's keys alone show what was separate."""

    def __init__(self, make: Callable[[str], Part], languages: Sequence[str], *, separate: bool):
        super().__init__()
        self.separate = separate
        self.owned_by = nn.ModuleDict()
        for owner in languages if separate else [SHARED]:
            # Not owned_by[owner] = ..., which refuses languages called like something of torch's, such as "to".
            self.owned_by._modules[owner] = make(owner)

    def of(self, language: str | None) -> Part:
        """The part that reads this language."""
        if not self.separate:
            return cast(Part, self.owned_by[SHARED])
        if language is None or language not in self.owned_by:
            raise IsoglotError(
                f"this model has parts of its own for {', '.join(self.owned_by)}: "
                f"say which of these languages the input is in (got {language!r})"
            )
        return cast(Part, self.owned_by[language])
