"""A hook of MkDocs: links that leave docs/ work on GitHub, and are plain text on the site.

A link to a file that is not there is an error in both places.
"""

import re
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")


class Page(Protocol):
    """What is used of a page of MkDocs."""

    file: Any


def on_page_markdown(markdown: str, page: Page, **_rest: object) -> str:
    """Called by MkDocs with the text of each page."""
    folder = ROOT / "docs" / Path(page.file.src_uri).parent

    def replaced(link: re.Match[str]) -> str:
        path = (folder / link[2]).resolve()
        if path.is_relative_to(ROOT / "docs"):
            return link[0]
        if not path.exists():
            raise FileNotFoundError(f"{page.file.src_uri} links to {link[2]}, which is not there")
        return link[1]

    return LINK.sub(replaced, markdown)
