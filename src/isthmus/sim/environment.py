"""A user's own Gymnasium environment, and what its file says beside it."""

import importlib
import inspect
import runpy
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from isthmus.core import Float, Problem
from isthmus.hardware.oversight import named

Observe = Callable[[Any], Any]
Declared = Mapping[str, object]


def as_it_is(observation: Float) -> Float:
    """The environment observes what the task does."""
    return observation


@dataclass(frozen=True)
class Environment:
    """One environment, with how it is observed, held and limited."""

    env: gymnasium.Env[Any, Any]
    name: str = "the environment"
    """What it is called in messages."""
    observe: Observe = as_it_is
    """Turns what the environment returns into the observation (obs,) that the task names."""
    hold: Callable[[], object] | None = None
    """Makes the robot hold where it is. It may be called from another thread, while a step is under way."""
    limits: Declared = field(default_factory=dict[str, object])
    """What the file declares as `limits`."""
    file: str = ""
    """The file it is defined in, if there is one."""

    def blame(self, error: BaseException) -> str:
        """An exception of the environment's code in one line, with the place in the user's file if it was there."""
        return blame(error, self.file)


def blame(error: BaseException, file: str = "") -> str:
    """An exception in one line, with where it was raised: the last place in `file`, if it went through there."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if file and Path(frame.filename) == Path(file)]
    place = (own or frames or [None])[-1]
    return f"{named(error)} ({Path(place.filename).name}, line {place.lineno})" if place else named(error)


def check_environment(text: str) -> None:
    """Refuse an id that Gymnasium does not know and a file that is not there; neither is made or run."""
    if text.endswith(".py"):
        if not Path(text).is_file():
            raise Problem(f"there is no environment at {text}: give a Python file that defines make_env()")
        return
    module, _, name = text.rpartition(":")
    try:
        if module:
            importlib.import_module(module)
        gymnasium.spec(name)
    except (gymnasium.error.Error, ImportError) as error:
        raise Problem(f"Gymnasium has no environment {text!r} ({str(error).splitlines()[0]})") from error


def make_environment(text: str) -> Environment:
    """The environment that Gymnasium knows by that id, or that `make_env()` gives in a Python file of the user's.

    A file may also define `observe(observation)`, for an environment that observes otherwise than the task does,
    `hold()`, unless the environment has a method of that name, and `limits`.
    """
    check_environment(text)
    if text.endswith(".py"):
        return _in_file(text)
    try:
        env = gymnasium.make(text)
    except Exception as error:
        raise Problem(f"Gymnasium cannot make {text!r} ({named(error)})") from error
    return Environment(env, text, hold=_hold_of(env))


def _in_file(text: str) -> Environment:
    """What a file defines is looked at before its environment is made, which may move a robot."""
    try:
        defined = runpy.run_path(text)
    except (Exception, SystemExit) as error:
        raise Problem(f"{text} cannot be run: {blame(error, text)}") from error
    make, observe, hold = (defined.get(name) for name in ("make_env", "observe", "hold"))
    limits: object = defined.get("limits", {})
    if observe is not None and not callable(observe):
        raise Problem(f"observe in {text} is {observe!r}: it has to be a function of the environment's observation")
    if hold is not None and not _needs_nothing(hold):
        raise Problem(f"hold in {text} is {hold!r}: it has to be a function that needs no arguments")
    if not isinstance(limits, dict):
        raise Problem(f'limits in {text} is {limits!r}: it has to be a dictionary, as in {{"low": -1, "high": 1}}')
    try:
        env: object = make() if callable(make) else None
    except (Exception, SystemExit) as error:
        raise Problem(f"make_env() of {text} raised {blame(error, text)}") from error
    if not isinstance(env, gymnasium.Env):
        raise Problem(f"{text} has no make_env() that returns a gymnasium.Env")
    return Environment(
        env,  # pyright: ignore[reportUnknownArgumentType]
        text,
        observe=observe or as_it_is,
        hold=hold or _hold_of(env),  # pyright: ignore[reportUnknownArgumentType]
        limits=limits,  # pyright: ignore[reportUnknownArgumentType]
        file=text,
    )


def _hold_of(env: gymnasium.Env[Any, Any]) -> Callable[[], object] | None:
    """The method `hold` of the environment, or of one that it wraps."""
    hold: object = env.get_wrapper_attr("hold") if env.has_wrapper_attr("hold") else None
    return hold if callable(hold) and _needs_nothing(hold) else None


def _needs_nothing(function: object) -> bool:
    """Whether it can be called without arguments."""
    try:
        inspect.signature(function).bind()  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return False
    return True


def as_numbers(value: object) -> Float:
    """What an environment returned, as an array of numbers; a Problem if it is none."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Problem(
            f"observes {type(value).__name__}, which is no array of numbers: "
            "give it in a file whose observe(observation) makes one of it"
        ) from error
