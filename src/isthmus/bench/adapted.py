"""A control step of one robot by our own methods: in time for the robot, and beside the paper's network."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus.adapt.action_residual.disturbance_observer import DisturbanceObserver
from isthmus.adapt.action_residual.method import ActionResidualPolicy
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.cost_to_go import even_metric
from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.response import Response
from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.adapt.model_inverse.method import ITERATIONS, ModelInversePolicy
from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.bench.control import HISTORY, random_inverse
from isthmus.bench.measure import Benchmark, middle
from isthmus.core import AnyPolicy, stream
from isthmus.core.metric import Metric
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import TransferPolicy
from isthmus.robots import load_task
from isthmus.sysid.open_target import UnclampedTarget
from isthmus.tasks import Task
from isthmus.transfer.control_step import StepTime, time_step

IDENTIFIED = "mass=1.3"
"""What is taken to have been identified: in the source's own simulator there would be nothing to look for."""


@dataclass(frozen=True)
class AdaptedStep:
    """A robot, and how many milliseconds a control step of its may take."""

    robot: str
    milliseconds: float

    def following(self, repeats: int) -> Benchmark:
        """`residual-action` where disturbances last, so that each step has to be explained as it happens."""
        return self._timed("following", self._action_residual(correlation=0.9), repeats)

    def inverting(self, repeats: int) -> Benchmark:
        """`model-inverse` for a heavier robot: derivatives of the simulator in each step, as often as they pay."""
        robot_model = self._task.robot_model
        heavier = Gap.parse(IDENTIFIED).resolve(robot_model.model).apply(robot_model.model)
        spec, simulator = robot_model.spec, UnclampedTarget.of(robot_model, heavier).simulator
        inverse = OneStepInverse(simulator, spec.action_low, spec.action_high, self._metric, ITERATIONS)
        return self._timed("inverting", ModelInversePolicy(self._policy, self._task.source(), inverse), repeats)

    def amortised(self, repeats: int) -> Benchmark:
        """`residual-action` without a correlated disturbance: it adds one matrix-vector product to the policy."""
        inverse = random_inverse(self._task.robot_model.spec, stream(0, "bench"))
        papers = TransferPolicy(self._policy, self._task.source(), inverse)
        ours = self._action_residual(correlation=0.0)
        times = [(self._time(ours), self._time(papers)) for _ in range(repeats)]
        ratios = [time.p50 / theirs.p50 for time, theirs in times]
        floor = "the same step by the paper's network, n = 1"
        step = _summary([time for time, _ in times])
        return Benchmark(f"amortised-{self.robot}", *middle(ratios), floor, goal=2.0, better="lower", step=step)

    def _timed(self, name: str, policy: AnyPolicy, repeats: int) -> Benchmark:
        times = [self._time(policy) for _ in range(repeats)]
        shares = [time.p50 / 1e3 / self.milliseconds for time in times]
        period = 1e3 * self._task.robot_model.spec.control_period
        floor = f"{self.milliseconds:g} ms, n = 1 (the control period is {period:.0f} ms)"
        name = f"{name}-{self.robot}"
        return Benchmark(name, *middle(shares), floor, goal=1.0, better="lower", step=_summary(times))

    def _time(self, policy: AnyPolicy) -> StepTime:
        return time_step(policy, HISTORY, self._task.source(), stream(0, "bench"))

    def _action_residual(self, correlation: float) -> ActionResidualPolicy:
        spec = self._task.robot_model.spec
        act, d = spec.action_size, len(spec.targets)
        disturbance = AR1Disturbance(np.full(act, 0.2), np.full(act, correlation), np.full(act, 0.01), saturates=True)
        weights = np.zeros((1 + d + HISTORY * act, act))
        response = Response(weights, np.zeros(d), np.ones(d), spec.half_range, spec.targets, disturbance)
        observer = DisturbanceObserver(response, EffectiveActionEstimator(self._task.unclamped(), self._metric))
        return ActionResidualPolicy(self._policy, self._task.source(), response, observer)

    @cached_property
    def _task(self) -> Task:
        return load_task(self.robot)

    @cached_property
    def _policy(self) -> AnyPolicy:
        expert = load_expert(self._task)
        return sim_derived_policy(self._task.robot_model, expert, stream(0, "bench"))(expert)

    @cached_property
    def _metric(self) -> Metric:
        return even_metric(self._policy, self._task.unclamped(), stream(0, "bench"))


def _summary(times: list[StepTime]) -> dict[str, float]:
    """Medians of p50 and p99 over the repeats, and the worst step of all."""
    p99, worst = ([value for time in times if (value := getattr(time, name)) is not None] for name in ("p99", "worst"))
    return {"p50": middle([time.p50 for time in times])[0], "p99": middle(p99)[0], "worst": max(worst)}
