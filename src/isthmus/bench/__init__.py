"""Each hot path as a ratio to its physical floor, measured in the same run."""

from collections.abc import Callable, Iterator, Sequence

from isthmus.bench.actuators import actuator_batch, actuator_step
from isthmus.bench.adapted import AdaptedStep
from isthmus.bench.bundle import bundle_fused_step, bundle_step
from isthmus.bench.collecting import collection
from isthmus.bench.control import control_step
from isthmus.bench.estimating import estimating
from isthmus.bench.firmware import can_emulate, firmware_cost, firmware_slowdown, firmware_slowdown_go1, go1_model
from isthmus.bench.firmware_twin import firmware_twin
from isthmus.bench.learning import fit_memory, fit_speed
from isthmus.bench.measure import Benchmark
from isthmus.bench.stepping import batched_stepping, batched_vs_gymnasium
from isthmus.bench.vision import can_render, vision_render
from isthmus.core import Problem, unknown_name

__all__ = ["Benchmark", "run_benchmarks"]

ROBOTS = (AdaptedStep("hopper", 2.0), AdaptedStep("half-cheetah", 2.0), AdaptedStep("humanoid", 8.0))
"""And the milliseconds that their control steps may take."""


def run_benchmarks(repeats: int, only: Sequence[str] = ()) -> Iterator[Benchmark]:
    """All of them, one after another; or those `only` whose names begin with one of these texts."""
    if repeats < 1:
        raise Problem(f"repeats must be at least 1, got {repeats}")
    every = list(_benchmarks())
    for one in only:
        if not any(name.startswith(one) for name, _ in every):
            raise unknown_name("benchmark", one, [name for name, _ in every])
    for name, measure in every:
        if not only or name.startswith(tuple(only)):
            found = measure(repeats)
            yield from (found,) if isinstance(found, Benchmark) else found


Measure = Callable[[int], Benchmark | Iterator[Benchmark]]


def _benchmarks() -> Iterator[tuple[str, Measure]]:
    """Every benchmark that this machine has the packages for, with what the names of its results begin with."""
    yield "batched-stepping", batched_stepping
    yield "batched-vs-gymnasium", batched_vs_gymnasium
    yield "collection", collection
    yield "control-step", control_step
    yield "fit", fit_speed
    yield "fit-memory", fit_memory
    yield "actuator-step", actuator_step
    yield "actuator-batch", actuator_batch
    for robot in ROBOTS:
        yield f"amortised-{robot.robot}", robot.amortised
        yield f"following-{robot.robot}", robot.following
        yield f"inverting-{robot.robot}", robot.inverting
    yield "estimating-hopper", estimating
    yield "bundle-step", bundle_step
    yield "bundle-step-fused", bundle_fused_step
    yield "firmware-twin", firmware_twin
    if can_emulate():
        yield "firmware-cost", firmware_cost
        yield "firmware-slowdown", firmware_slowdown
        if go1_model() is not None:
            yield "firmware-slowdown-go1", firmware_slowdown_go1
    if can_render():
        yield "vision-render", vision_render
