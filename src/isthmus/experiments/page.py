"""The files that an experiment publishes: JSON, a table in markdown, a drawing, and an HTML page.

A page is one file that loads nothing and runs nothing, in the look of the reports.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from isthmus.io import write_json, write_whole
from isthmus.report.page import TEMPLATES as REPORT
from isthmus.report.page import policy

if TYPE_CHECKING:
    from isthmus.experiments.drawing import Figure

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Page:
    """An HTML page: a template and what it shows. The drawing, if there is one, is added as `plot`."""

    template: str
    content: Mapping[str, Any]

    def render(self, plot: str | None = None) -> str:
        """The page as HTML; text is escaped."""
        loader = FileSystemLoader(TEMPLATES)
        environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
        environment.trim_blocks = environment.lstrip_blocks = True
        style = (REPORT / "report.css").read_text(encoding="utf-8")
        return environment.get_template(self.template).render(self.content, plot=plot, policy=policy(), style=style)


def publish(
    folder: Path,
    name: str,
    data: Mapping[str, Any],
    text: str,
    drawing: "Figure | None" = None,
    page: Page | None = None,
) -> None:
    """Write NAME.json and NAME.md into `folder`, and NAME.svg and NAME.html if there is a drawing or a page."""
    write_json(folder / f"{name}.json", data)
    write_whole(folder / f"{name}.md", text.encode())
    plot = None
    if drawing is not None:
        from isthmus.experiments.drawing import save_drawing  # noqa: PLC0415 - matplotlib is an extra

        save_drawing(drawing, folder / f"{name}.svg")
        svg = (folder / f"{name}.svg").read_bytes()
        plot = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    if page is not None:
        write_whole(folder / f"{name}.html", page.render(plot).encode())
