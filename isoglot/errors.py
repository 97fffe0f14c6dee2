"""The one exception for a mistake the user can mend."""


class IsoglotError(Exception):
    """Names the file, line, key or flag at fault, and what would be right; shown without a traceback."""


class MissingDataError(IsoglotError):
    """A file that a part of a study needs is not there; the rest of the study can go on without."""
