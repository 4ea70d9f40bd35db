import dataclasses

import pytest

from isthmus.adapt import METHODS, MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.experiments import grid
from isthmus.experiments.comparison import Case
from isthmus.experiments.comparison.case import Entry, choose_entries
from isthmus.experiments.comparison.row import Row
from isthmus.experiments.pool import attempt, settle


@pytest.fixture
def kinds(monkeypatch):
    """Methods by name, to which others can be added."""

    def add(name, **changes):
        monkeypatch.setitem(METHODS, name, dataclasses.replace(METHODS["unadapted"], name=name, **changes))
        return Entry(name)

    return add


@pytest.fixture
def make_row():
    """A row of made-up figures."""

    def make(entry, *scores, samples=1000, step=10.0, fit=1.0, missing=(), problem=None, episode_error=0.001, early=()):
        entry = Entry(entry) if isinstance(entry, str) else entry
        found = {
            seed: {
                "normalised": score,
                "episode_error": episode_error,
                "samples": 0 if entry.method == "unadapted" else samples,
                "fit_seconds": fit,
                "step_microseconds": step,
                "curve": [[0, 0.0], *([at, score - below] for at, below in early), [samples, score]],
                "versions": {"isthmus": "1"},
            }
            for seed, score in enumerate(scores)
        }
        return Row(found, tuple(missing), entry, 50, problem, control_period=20_000.0)

    return make


@pytest.fixture
def tiny():
    """A comparison on Reacher that takes seconds."""

    def make(methods="pd", **changes):
        small = {"metrics": ("even",), "oracle_episodes": 2, "settings": MethodSettings(fit=FitSettings(epochs=2))}
        entries = [Entry(name) for name in dict.fromkeys(entry.method for entry in choose_entries(methods))]
        return Case("reacher", "tilt=90", 60, tuple(entries), **(small | changes))

    return make


@pytest.fixture
def in_process(monkeypatch):
    """Everything is done in this process; gives back the names of what was done."""
    done = []

    def run_all(works, do, deliver, *, workers, ray):
        for work in works:
            done.append(work.name)
            deliver(work, settle(work, attempt(do, work)))

    monkeypatch.setattr(grid, "run_all", run_all)
    return done
