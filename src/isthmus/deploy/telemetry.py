"""Every control step as MCAP, which Foxglove shows: JSON messages, with their schemas in the file.

A thread writes, so that no command waits for a disk. What was written before a crash can be read.
"""

import json
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from isthmus.core import Float, Problem, WorldSpec

NUMBER = {"type": "number"}
CHUNK = 64 << 10
"""Bytes that are collected before they are written."""


class Telemetry:
    """Writes a file of control steps; used in a `with` block."""

    def __init__(self, path: Path, spec: WorldSpec) -> None:
        """Begin the file."""
        try:
            from mcap.writer import Writer  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise Problem("telemetry is written as MCAP: pip install 'isthmus[deploy]'") from error
        self._spec = spec
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("xb")
        except OSError as error:
            raise Problem(f"cannot write {path}: {error.strerror}") from error
        self._writer = Writer(self._file, chunk_size=CHUNK)
        self._writer.start(library="isthmus")
        joints, seen = spec.action_names, spec.observation_names
        self._channels = {
            "/observation": self._channel("/observation", seen),
            "/command": self._channel("/command", joints),
            "/adapted": self._channel("/adapted", joints),
            "/unadapted": self._channel("/unadapted", joints),
            "/applied": self._channel("/applied", joints),
            "/loop": self._channel("/loop", ("compute_ms", "late_ms", "weight")),
        }
        self._queue: queue.SimpleQueue[tuple[str, int, Mapping[str, float]] | None] = queue.SimpleQueue()
        self._trouble = ""
        self._thread = threading.Thread(target=self._write, name="telemetry", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Telemetry":
        """Ready."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left, and the end of the file."""
        self._queue.put(None)
        self._thread.join()
        self._file.close()
        if self._trouble and error is None:
            raise Problem(f"telemetry is not complete: {self._trouble}")

    def vector(self, topic: str, values: Float | Sequence[float], at: int | None = None) -> None:
        """Record one number for each name of a topic, at a time in nanoseconds."""
        names = self._spec.observation_names if topic == "/observation" else self._spec.action_names
        self.message(topic, dict(zip(names, (float(one) for one in values), strict=True)), at)

    def message(self, topic: str, values: Mapping[str, float], at: int | None = None) -> None:
        """Record named numbers."""
        self._queue.put((topic, time.time_ns() if at is None else at, values))

    def _channel(self, topic: str, names: Sequence[str]) -> int:
        schema: dict[str, Any] = {"type": "object", "properties": dict.fromkeys(names, NUMBER)}
        known = self._writer.register_schema(
            name=f"isthmus{topic.replace('/', '.')}", encoding="jsonschema", data=json.dumps(schema).encode()
        )
        return self._writer.register_channel(topic=topic, message_encoding="json", schema_id=known)

    def _write(self) -> None:
        try:
            while (one := self._queue.get()) is not None:
                topic, at, values = one
                data = json.dumps(values).encode()
                self._writer.add_message(self._channels[topic], log_time=at, data=data, publish_time=at)
            self._writer.finish()
        except OSError as error:  # a full disk must not stop a robot in the middle of a motion
            self._trouble = f"{error.strerror}"
