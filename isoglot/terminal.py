"""How commands write to the terminal, and how they end when they are stopped there."""

from rich.console import Console

INTERRUPTED = 130
WIDTH_OF_FILES = 240


def plain_console(*, soft_wrap: bool = True) -> Console:
    """Names of files are no markup; a file or a pipe has no right margin."""
    console = Console(markup=False, highlight=False, soft_wrap=soft_wrap)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console
