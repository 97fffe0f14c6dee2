"""The isoglot program: whatever goes wrong, it ends with a sentence and a status, not with a traceback."""

import signal
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; it is imported here, so that Ctrl-C is quiet during imports as well."""
    try:
        # A batch system asks a job to end in this way, and should be told the same as a person.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        from isoglot.cli import main as command

        command(argv)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        from isoglot.errors import unexpected

        print(f"isoglot: {unexpected(error)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
