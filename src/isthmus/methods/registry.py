"""The methods there are, by name."""

from collections.abc import Callable
from dataclasses import dataclass

from isthmus.core import unknown_name
from isthmus.methods.explained import ExplainedMethod
from isthmus.methods.inverse import InverseMethod
from isthmus.methods.method import Method, Source
from isthmus.methods.settings import MethodSettings
from isthmus.methods.unadapted import UnadaptedMethod


@dataclass(frozen=True)
class MethodKind:
    """A method that can be made."""

    name: str
    summary: str
    sees: str
    """What it is allowed to learn from."""
    make: Callable[[Source, MethodSettings], Method]


METHODS = {
    kind.name: kind
    for kind in (
        MethodKind(
            name="inverse",
            summary="the paper's inverse dynamics network gives the action that reaches the simulator's next state",
            sees="target observations and actions",
            make=lambda source, settings: InverseMethod(source, settings, correction=False),
        ),
        MethodKind(
            name="correction",
            summary="the paper's correction form: the network gives what to add to the source's action",
            sees="target observations and actions",
            make=lambda source, settings: InverseMethod(source, settings, correction=True),
        ),
        MethodKind(
            name="explained",
            summary="explains target steps in the simulator's terms, and commands what comes to the source's action",
            sees="target observations and actions",
            make=ExplainedMethod,
        ),
        MethodKind(
            name="unadapted",
            summary="the source's policy as it is",
            sees="nothing of the target",
            make=lambda source, _settings: UnadaptedMethod(source),
        ),
    )
}


def make_method(name: str, source: Source, settings: MethodSettings) -> Method:
    """The method of that name, ready to learn."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name].make(source, settings)
