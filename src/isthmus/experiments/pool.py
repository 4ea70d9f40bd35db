"""Work side by side, on processes of this machine or on a Ray cluster: the same work, the same results."""

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import cast

from isthmus.core import Problem
from isthmus.experiments.cluster import LOSSES, R, W, attempt, given_up, run_on_cluster, settle

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
