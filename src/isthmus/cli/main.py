"""`isthmus`: parse, run, and say what went wrong in one sentence."""

import sys
from collections.abc import Sequence

from rich.console import Console

from isthmus.cli.parse import parse
from isthmus.core import Problem

BAD_INPUT, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with code 2 on bad input."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        parse(arguments).run()
    except Problem as problem:
        errors.print(f"isthmus: {problem}", markup=False, style="red")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        errors.print("isthmus: interrupted; what is complete is kept", markup=False)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
