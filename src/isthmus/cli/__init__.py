"""The command line."""

from isthmus.cli.main import main

__all__ = ["main"]
