"""Renderings as a stream: processes on all cores write batches into shared memory, in an order that never changes.

Batch b holds the images b * size to (b + 1) * size - 1 whichever process made it, so that training sees the same images
in the same order on any number of processes, and goes on from any image number.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.vision.randomise import Randomise
from isthmus.vision.samples import Frame, Samples, sample_type
from isthmus.vision.stage.draw import ANY
from isthmus.vision.stage.scene import SceneFile

SLOTS = 3
"""Batches that a process may be ahead."""
PATIENCE = 120.0
"""Seconds that a batch may take."""


@dataclass(frozen=True)
class StreamSpec:
    """Which images a stream has: plain data that can be sent to a process."""

    scene: SceneFile
    randomise: Randomise
    frame: Frame
    batch: int = 32
    seed: int = 0
    samples: int = 0
    """A pixel; 0 for one."""
    condition: str = ANY


class Stream:
    """Batches (n,) without end; each is valid until the next one is asked for, as its memory is used again."""

    def __init__(self, batches: Iterator[Samples], spent: list[Any]) -> None:
        """Hand on batches; `spent` are the processor times of the processes that make them."""
        self._batches, self._spent = batches, spent

    def __iter__(self) -> Iterator[Samples]:
        return self._batches

    def __next__(self) -> Samples:
        return next(self._batches)

    @property
    def processor_seconds(self) -> float:
        """Processor time that all batches so far have taken."""
        return float(sum(one.value for one in self._spent))


@contextmanager
def open_stream(spec: StreamSpec, workers: int, first: int = 0) -> Generator[Stream]:
    """Batches (spec.batch,) from batch number `first` on."""
    context = multiprocessing.get_context("spawn")
    size = spec.batch * sample_type(spec.frame).itemsize
    memory = SharedMemory(create=True, size=size * SLOTS * workers)
    processes: list[Any] = []
    free = [context.Semaphore(SLOTS) for _ in range(workers)]
    full = [context.Semaphore(0) for _ in range(workers)]
    ends = [context.Pipe(duplex=False) for _ in range(workers)]
    spent = [context.Value("d", 0.0, lock=False) for _ in range(workers)]
    try:
        for number in range(workers):
            work = (
                spec,
                memory.name,
                number,
                workers,
                first,
                free[number],
                full[number],
                ends[number][1],
                spent[number],
            )
            process = context.Process(target=_work, args=work, daemon=True)
            process.start()
            processes.append(process)
        yield Stream(_batches(spec, memory, workers, first, free, full, ends, processes), spent)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        memory.close()
        memory.unlink()


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batches(
    spec: StreamSpec, memory: SharedMemory, workers: int, first: int, free: list[Any], full: list[Any],
    ends: list[Any], processes: list[Any],
) -> Iterator[Samples]:  # fmt: skip
    kind = sample_type(spec.frame)
    for turn in range(1 << 62):
        number, slot = turn % workers, (turn // workers) % SLOTS
        _wait(full[number], ends[number][0], processes[number], first + turn)
        offset = (number * SLOTS + slot) * spec.batch * kind.itemsize
        yield np.ndarray((spec.batch,), kind, buffer=memory.buf, offset=offset)
        free[number].release()


def _wait(full: Any, end: Any, process: Any, batch: int) -> None:  # noqa: ANN401 - of multiprocessing
    waited = 0.0
    while not full.acquire(timeout=1.0):
        waited += 1.0
        if end.poll():
            raise Problem(end.recv())
        if not process.is_alive() or waited > PATIENCE:
            raise Problem(f"the process that renders batch {batch} died: if memory is short use fewer --workers")


def _work(
    spec: StreamSpec, name: str, number: int, workers: int, first: int, free: Any, full: Any, end: Any,  # noqa: ANN401
    spent: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Render batches first + number, first + number + workers, ... into the slots of this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its processes
    from isthmus.vision.renderer import Renderer  # noqa: PLC0415 - graphics only where they are used
    from isthmus.vision.stage.scene import read_scene  # noqa: PLC0415

    kind = sample_type(spec.frame)
    memory = SharedMemory(name=name)
    try:
        parent = multiprocessing.parent_process()
        with Renderer(
            read_scene(spec.scene), spec.randomise, spec.frame, samples=spec.samples, seed=spec.seed
        ) as renderer:
            for turn in range(1 << 62):
                while not free.acquire(timeout=5.0):
                    if parent is not None and not parent.is_alive():
                        return
                offset = (number * SLOTS + turn % SLOTS) * spec.batch * kind.itemsize
                batch = np.ndarray((spec.batch,), kind, buffer=memory.buf, offset=offset)
                begin = (first + number + turn * workers) * spec.batch
                for one in range(spec.batch):
                    renderer.sample(begin + one, batch[one], spec.condition)
                del batch
                spent.value = time.process_time()
                full.release()
    except Problem as problem:
        end.send(str(problem))
    finally:
        memory.close()
