"""What a chart is: plotly.js data whose colours are names.

A colour such as `@adapted` is looked up in the page's style sheet when the chart is drawn, so that charts follow the
reader's light or dark scheme, and a role has one colour everywhere.
"""

import html
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

Json = dict[str, Any]
LINE_STYLES = {"expert": "dash", "unadapted": "dot", "adapted": "solid"}
"""A role can be recognised by its line as well as by its colour."""
DASHES = {"solid": "", "dash": "7 4", "dot": "2 3"}
"""Plotly's line styles as those of SVG."""
SYMBOLS = ("circle", "diamond", "square", "triangle-up")


@dataclass(frozen=True)
class Key:
    """One entry of a legend. Legends are part of the page: they wrap on a phone, and never lie over the data."""

    name: str
    kind: Literal["line", "point", "ring", "bar"]
    colour: str
    """Name of the colour in the style sheet."""
    dashes: str = ""


@dataclass(frozen=True)
class Chart:
    """One chart of the page."""

    name: str
    """Its address in the page."""
    label: str
    """What it shows, for those who cannot see it."""
    data: list[Json]
    layout: Json
    note: str = ""
    """A remark that only this chart's data calls for."""
    reading: str = ""
    """What to look at, and what it says in this run, in plain words."""

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self.layout["height"])

    @property
    def legend(self) -> list[Key]:
        """What the named parts of the chart look like."""
        return [_key(trace) for trace in self.data if "name" in trace and trace.get("showlegend", True)]

    @property
    def figure(self) -> Json:
        """What plotly.js takes."""
        return {"data": self.data, "layout": self.layout}


def layout(x: str, y: str, *, height: int = 380, **more: Any) -> Json:  # noqa: ANN401 - plotly's own attributes
    """A plain layout with axis titles `x` and `y`; `more` replaces or, for the axes, adds to what it has."""
    base: Json = {
        "height": height,
        "margin": {"l": 16, "r": 16, "t": 12, "b": 16},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "@ink", "size": 13},
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "@card", "bordercolor": "@line", "font": {"color": "@ink"}},
        "showlegend": False,
        "xaxis": _axis(x) | more.pop("xaxis", {}),
        "yaxis": _axis(y) | more.pop("yaxis", {}),
    }
    return base | more


def _axis(title: str) -> Json:
    return {
        "title": {"text": title, "standoff": 10, "font": {"size": 13}},
        "tickfont": {"size": 12},
        "automargin": True,
        "gridcolor": "@grid",
        "linecolor": "@line",
        "zerolinecolor": "@line",
        "tickcolor": "@line",
        "ticks": "outside",
        "ticklen": 4,
        "showline": True,
    }


def _key(trace: Json) -> Key:
    name = html.unescape(trace["name"])
    if trace["type"] == "bar":
        return Key(name, "bar", trace["marker"]["color"][1:])
    if "lines" in trace["mode"]:
        return Key(name, "line", trace["line"]["color"][1:], DASHES[trace["line"].get("dash", "solid")])
    kind = "ring" if trace["marker"].get("symbol") == "circle-open" else "point"
    return Key(name, kind, trace["marker"]["color"][1:])


def values(numbers: ArrayLike, digits: int = 5) -> list[float | None]:
    """Numbers for JSON: short, and None where there is none."""
    array = np.asarray(numbers, np.float64).ravel()
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in array.tolist()]


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def text(name: str, longest: int = 24) -> str:
    """A name as plotly.js, which reads a little HTML, shows it."""
    return html.escape(name if len(name) <= longest else name[: longest - 1] + "…", quote=False)
