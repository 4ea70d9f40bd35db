"""A trace as a timeline: Chrome/Perfetto JSON, and a small page with what happened around a moment."""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.firmware.board import Board
from isthmus.firmware.rig import Kind
from isthmus.io import write_whole

KINDS: dict[int, str] = {
    Kind.EXC_ENTER: "interrupt",
    Kind.EXC_LEAVE: "end of interrupt",
    Kind.CAN_FRAME: "CAN frame",
    Kind.CAN_DELIVERED: "CAN delivered",
    Kind.I2C: "I2C",
    Kind.UART_RX: "host bytes in",
    Kind.UART_TX: "host bytes out",
    Kind.IDLE: "idle",
    Kind.WATCHDOG: "watchdog reset",
    Kind.RESET: "reset",
    Kind.FAULT: "processor fault",
    Kind.COMMAND: "command",
    Kind.CAN_ERROR: "CAN error",
    Kind.BUS_OFF: "bus-off",
    Kind.IMU_SAMPLE: "IMU sample",
    Kind.FAULT_WINDOW: "fault",
    Kind.MARK: "mark",
    Kind.HOST_SENT: "host sends",
}
WITH_DURATION = (3, 5, 8, 13)
LOUD = (9, 10, 11, 13, 14, 16)
"""Kinds that are always worth seeing."""
INTERRUPTS, IDLE, HOST, EVENTS, JOINTS, BUSES = 1, 2, 3, 4, 100, 10
EXCEPTIONS = {
    2: "NMI",
    3: "HardFault",
    4: "MemManage",
    5: "BusFault",
    6: "UsageFault",
    11: "SVC",
    14: "PendSV",
    15: "SysTick",
}
BEFORE, AFTER = 2.0, 1.0
"""Seconds of the trace that are exported around a moment."""
PAGE_MS = 40.0
"""Milliseconds that the page shows, two thirds of them before the moment."""


def chrome_events(events: np.ndarray, board: Board) -> list[dict[str, Any]]:
    """The trace in the JSON format that Chrome's and Perfetto's viewers read; times in microseconds."""
    out = [_named(track, name) for track, name in _tracks(board).items()]
    for event in events:
        out += _chrome(event, board)
    return out


def _tracks(board: Board) -> dict[int, str]:
    fixed = {INTERRUPTS: "interrupts", IDLE: "processor idle", HOST: "host link", EVENTS: "events"}
    buses = {BUSES + i: bus.name for i, bus in enumerate(board.buses)}
    return fixed | buses | {JOINTS + i: f"motor {joint}" for i, joint in enumerate(board.joints)}


def _named(track: int, name: str) -> dict[str, Any]:
    return {"name": "thread_name", "ph": "M", "pid": 1, "tid": track, "args": {"name": name}}


def _track(kind: int, source: int) -> int:
    if kind in (1, 2):
        return INTERRUPTS
    if kind in (6, 7):
        return HOST
    if kind in (3, 4, 5, 13, 14):
        return BUSES + source
    return IDLE if kind == 8 else JOINTS + source if kind == 12 else EVENTS


def _label(kind: int, source: int, a: int, b: int) -> str:
    if kind in (1, 2):
        return EXCEPTIONS.get(source, f"IRQ {source - 16}")
    if kind in (3, 4, 13):
        return f"{KINDS[kind]} {a & 0x1FFFFFFF:#x}"
    if kind == 5:
        return f"I2C {(a >> 8) & 0x7F:#x}, {a & 0xFF} bytes{' NACK' if a >> 32 else ''}"
    if kind == 12:
        return f"command {b * 1e-6:.2f} N m"
    name = KINDS.get(kind, str(kind))
    return f"{name} {a}" if kind in (6, 7, 10, 11, 14, 17) else name


def _chrome(event: np.void, board: Board) -> Iterator[dict[str, Any]]:
    t, kind, source, a, b = (int(event[name]) for name in ("t", "kind", "source", "a", "b"))
    base = {"pid": 1, "tid": _track(kind, source), "ts": round(t * 1e-3, 3)}
    if kind == 1:
        yield {**base, "ph": "B", "name": _label(kind, source, a, b)}
    elif kind == 2:
        yield {**base, "ph": "E"}
    elif kind in WITH_DURATION:
        yield {**base, "ph": "X", "dur": round(b * 1e-3, 3), "name": _label(kind, source, a, b)}
    else:
        yield {**base, "ph": "i", "s": "t", "name": _label(kind, source, a, b)}
    if kind == 12 and a >= 0 and source < len(board.joints):
        yield {**base, "ph": "C", "name": f"sample age {board.joints[source]}", "args": {"ms": round(a * 1e-6, 3)}}


def write_timeline(
    folder: Path, events: np.ndarray, board: Board, around_s: float | None = None, title: str = ""
) -> Path:
    """Write `trace.json` and `timeline.html` into `folder`, around a moment if one is given; returns the page."""
    shown = events
    if around_s is not None and len(events):
        at = events["t"] * 1e-9
        shown = events[(at >= around_s - BEFORE) & (at <= around_s + AFTER)]
    text = json.dumps({"traceEvents": chrome_events(shown, board), "displayTimeUnit": "ms"}, separators=(",", ":"))
    write_whole(folder / "trace.json", text.encode())
    moment = around_s if around_s is not None else (float(shown["t"][-1]) * 1e-9 if len(shown) else 0.0)
    page = folder / "timeline.html"
    write_whole(page, _page(shown, board, moment, title).encode())
    return page


LEFT, ROW, WIDE = 150, 22, 1100


def _page(events: np.ndarray, board: Board, moment: float, title: str) -> str:
    start = moment - PAGE_MS * 2e-3 / 3
    at = events["t"] * 1e-9 if len(events) else np.zeros(0)
    near = events[(at >= start - 2e-3) & (at <= start + PAGE_MS * 1e-3)] if len(events) else events
    tracks = {track: name for track, name in _tracks(board).items() if track != IDLE}
    rows = {track: 30 + ROW * i for i, track in enumerate(tracks)}
    parts = [f'<text x="4" y="{rows[track] + 14}">{escape(name)}</text>' for track, name in tracks.items()]
    parts += _grid(start, 30 + ROW * len(rows))
    parts += _shapes(near, rows, start)
    x = _x(moment, start)
    parts.append(f'<line x1="{x}" x2="{x}" y1="20" y2="{30 + ROW * len(rows)}" stroke="#c00" stroke-width="1.5"/>')
    height = 50 + ROW * len(rows)
    heading = escape(title or f"{board.name} at {moment:.4f} s")
    return f"""<!doctype html><meta charset="utf-8"><title>{heading}</title>
<style>body{{font:14px sans-serif;margin:2em}}text{{font:11px sans-serif}}</style>
<h1>{heading}</h1>
<p>{PAGE_MS:g} ms of buses, interrupts and motors; the red line is the moment. Hold the pointer over a mark to read it.
<code>trace.json</code> beside this page has up to {BEFORE + AFTER:g} s: open it in Perfetto (ui.perfetto.dev) or chrome://tracing.</p>
<svg width="{LEFT + WIDE + 40}" height="{height}">{"".join(parts)}</svg>
"""


def _x(t: float, start: float) -> float:
    return round(LEFT + WIDE * (t - start) / (PAGE_MS * 1e-3), 1)


def _grid(start: float, bottom: int) -> Iterator[str]:
    for k in range(int(PAGE_MS) + 1):
        x = _x(start + k * 1e-3, start)
        yield f'<line x1="{x}" x2="{x}" y1="20" y2="{bottom}" stroke="{"#bbb" if k % 5 == 0 else "#eee"}"/>'
        if k % 5 == 0:
            yield f'<text x="{x}" y="14" text-anchor="middle">{(start + k * 1e-3) * 1e3:.0f} ms</text>'


COLOURS = {1: "#7a5", 3: "#48c", 4: "#26a", 5: "#a6c", 6: "#888", 7: "#555", 12: "#e80", 13: "#d22", 14: "#d22"}


def _shapes(events: np.ndarray, rows: dict[int, int], start: float) -> Iterator[str]:
    entered: list[int] = []
    for event in events:
        t, kind, source, a, b = (int(event[name]) for name in ("t", "kind", "source", "a", "b"))
        row = rows.get(_track(kind, source))
        if row is None:
            continue
        if kind == 1:
            entered.append(t)
            continue
        lasts = b if kind in WITH_DURATION else 0
        if kind == 2:
            if not entered:
                continue
            t, lasts = (begun := entered.pop()), t - begun
        colour = COLOURS.get(1 if kind == 2 else kind, "#d22" if kind in LOUD else "#333")
        x, wide = _x(t * 1e-9, start), max(WIDE * lasts * 1e-9 / (PAGE_MS * 1e-3), 1.5)
        if x + wide < LEFT:
            continue
        label = escape(f"{_label(kind, source, a, b)} at {t * 1e-6:.3f} ms")
        box = f'x="{max(x, LEFT)}" y="{row}" width="{wide:.1f}" height="{ROW - 6}"'
        yield f'<rect {box} fill="{colour}"><title>{label}</title></rect>'
