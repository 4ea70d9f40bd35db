"""Each hot path as a ratio to its physical floor, measured in the same run."""

from collections.abc import Iterator

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
from isthmus.core import Problem

__all__ = ["Benchmark", "run_benchmarks"]

ROBOTS = (AdaptedStep("hopper", 2.0), AdaptedStep("half-cheetah", 2.0), AdaptedStep("humanoid", 8.0))
"""And the milliseconds that their control steps may take."""


def run_benchmarks(repeats: int) -> Iterator[Benchmark]:
    """All of them, one after another."""
    if repeats < 1:
        raise Problem(f"repeats must be at least 1, got {repeats}")
    for benchmark in (batched_stepping, batched_vs_gymnasium, collection, control_step, fit_speed, fit_memory):
        yield benchmark(repeats)
    for benchmark in (actuator_step, actuator_batch):
        yield benchmark(repeats)
    for robot in ROBOTS:
        for benchmark in (robot.amortised, robot.following, robot.inverting):
            yield benchmark(repeats)
    yield from estimating(repeats)
    for benchmark in (bundle_step, bundle_fused_step):
        yield benchmark(repeats)
    yield firmware_twin(repeats)
    if can_emulate():
        yield firmware_cost(repeats)
        yield firmware_slowdown(repeats)
        if go1_model() is not None:
            yield firmware_slowdown_go1(repeats)
    if can_render():
        yield vision_render(repeats)
