"""Exchange with the library transformers, which is optional and is kept quiet."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isoglot.errors import IsoglotError


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Hide its progress bars, and its warnings about weights that a model does not use."""
    try:
        import transformers
    except ImportError:
        raise IsoglotError("models of Hugging Face need a library; get it with: pip install transformers") from None
    logging: Any = transformers.logging
    verbosity, shows_progress = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shows_progress:
            logging.enable_progress_bar()
