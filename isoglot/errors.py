"""The one exception for a mistake the user can mend."""


class IsoglotError(Exception):
    """Names the file, line, key or flag at fault, and what would be right; shown without a traceback."""
