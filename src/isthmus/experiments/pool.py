"""Work side by side, on processes of this machine or on a Ray cluster: the same work, the same results."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Protocol, TypeVar, cast

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


ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Workers do not fight for cores, and sums are the same whatever the number of workers."""


def run_all(
    works: Sequence[W],
    run: Callable[[W], R],
    deliver: Callable[[W, R], None],
    *,
    workers: int,
    ray: str | None = None,
    fresh: bool = False,
) -> None:
    """Give the result of `run` for each of `works` to `deliver`, in the order in which they finish.

    The work is done by `workers` processes, or by the Ray cluster at address `ray`. Work whose worker is killed is done
    again. With `fresh`, a local process does one piece of work only.
    """
    if workers < 1:
        raise Problem(f"workers must be at least 1, got {workers}")
    if ray is not None:
        run_on_cluster(works, run, deliver, ray)
        return
    waiting, losses = deque(works), Counter[str]()
    while waiting:
        for work in reversed(_until_a_worker_dies(waiting, run, deliver, min(workers, len(waiting)), fresh=fresh)):
            losses[work.name] += 1
            if losses[work.name] > LOSSES:
                raise given_up(work)
            waiting.appendleft(work)


def _until_a_worker_dies(
    waiting: deque[W], run: Callable[[W], R], deliver: Callable[[W, R], None], workers: int, *, fresh: bool
) -> list[W]:
    """Do what is waiting; what was under way when a worker died is given back, nothing when all is done."""
    running: dict[Future[R | Problem], W] = {}
    finished: list[tuple[W, R | Problem]] = []
    lost: list[W] = []
    with _executor(workers, fresh=fresh) as executor:
        whole = True
        while running or finished or (waiting and whole):
            while waiting and whole and len(running) < workers:
                try:
                    running[executor.submit(attempt, run, waiting[0])] = waiting[0]
                    waiting.popleft()
                except BrokenProcessPool:
                    whole = False
            for work, outcome in finished:  # only now: nobody waits while a result is looked at
                deliver(work, settle(work, outcome))
            finished.clear()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                work = running.pop(future)
                try:
                    finished.append((work, future.result()))
                except BrokenProcessPool:
                    lost.append(work)
                    whole = False
    return lost


@contextmanager
def _executor(workers: int, *, fresh: bool = False) -> Generator[ProcessPoolExecutor]:
    """Processes that end with this block, whatever they are at: all they did is on disk."""
    context = multiprocessing.get_context("spawn")
    their_end, our_end = cast("tuple[Connection, Connection]", context.Pipe(duplex=False))  # another type on Windows
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)  # a worker's libraries look at it as they load, before any of our code runs there
    executor = ProcessPoolExecutor(
        workers, context, _hold_on_to, (their_end,), max_tasks_per_child=1 if fresh else None
    )
    try:
        yield executor
    finally:
        our_end.close()
        executor.shutdown(cancel_futures=True)
        their_end.close()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _hold_on_to(lifeline: Connection) -> None:
    """End this worker when the study lets go of the lifeline: by closing it, or by being killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the study decides what it means

    def watch() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
