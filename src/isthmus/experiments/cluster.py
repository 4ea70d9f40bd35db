"""Work on a Ray cluster, which is an extra; and what local processes and a cluster have in common."""

import logging
import os
import socket
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Protocol, TypeVar

from isthmus.core import Problem

LOSSES = 3
"""How often a piece of work may lose its worker before it is given up."""


class Work(Protocol):
    """A piece of work that any process can do: a picklable value with a name."""

    @property
    def name(self) -> str:
        """The name that people read."""
        ...


W = TypeVar("W", bound=Work)
R = TypeVar("R")


def attempt(run: Callable[[W], R], work: W) -> R | Problem:
    """Do `work`. A Problem is returned, because a raised one changes on its way between processes."""
    try:
        return run(work)
    except Problem as problem:
        return problem


def settle(work: Work, outcome: R | Problem) -> R:
    """The result; a Problem is raised with the name of the work."""
    if isinstance(outcome, Problem):
        raise Problem(f"{work.name}: {outcome}") from outcome
    return outcome


def given_up(work: Work) -> Problem:
    """The Problem with work whose workers keep dying."""
    return Problem(
        f"{work.name}: its worker died {LOSSES + 1} times: if memory is short use fewer workers; "
        "the same command goes on where it was"
    )


def run_on_cluster(works: Sequence[W], run: Callable[[W], R], deliver: Callable[[W, R], None], address: str) -> None:
    """Do each of `works` on one CPU of the cluster, and with one BLAS thread: that is how Ray starts such a task.

    When a worker dies, Ray starts its work again. It goes on where it was if the machines share the folder, and from
    the beginning otherwise: to the same result.
    """
    ray = _connected(address)
    task = ray.remote(num_cpus=1, max_retries=LOSSES)(attempt)
    running = {task.remote(run, work): work for work in works}
    try:
        while running:
            [reference], _ = ray.wait(list(running), num_returns=1)
            work = running.pop(reference)
            try:
                outcome = ray.get(reference)
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
                raise given_up(work) from error
            deliver(work, settle(work, outcome))
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _connected(address: str) -> ModuleType:
    """Ray, connected until this process ends; a connection that is there already is used."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would send figures of its use to its makers
    try:
        import ray  # noqa: PLC0415 - an extra
        import ray.exceptions  # noqa: PLC0415
    except ImportError as error:
        raise Problem("--ray needs Ray: pip install 'isthmus[ray]'") from error
    if not ray.is_initialized():
        try:
            _knock(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise Problem(f"no Ray cluster answers at {address!r} ({reason}): see `ray start --help`") from error
    return ray


def _knock(address: str) -> None:
    """See whether anybody is at HOST:PORT: Ray itself tries for many minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()
