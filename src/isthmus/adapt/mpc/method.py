"""Model predictive control as a method: nothing is trained, it adapts while it runs."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.adapt.common.cost_to_go import even_metric
from isthmus.adapt.method import FitReport, Source
from isthmus.adapt.mpc.affine import Units
from isthmus.adapt.mpc.policy import Adaptation, PlanningPolicy
from isthmus.core import Episode, Problem, stream


class PlanningMethod:
    """Plans with the simulator and the task's own cost; the source's policy is not asked."""

    history = 2
    needs_target_data = False

    def __init__(self, source: Source, adaptation: Callable[[], Adaptation]) -> None:
        """Plan for `source`, each policy with an adaptation of its own."""
        if source.cost is None:
            raise Problem("this task does not say what its simulation costs, and a plan is made for a cost")
        self._source, self._cost, self._adaptation = source, source.cost, adaptation
        scale = even_metric(source.policy, source.unclamped, stream(source.seed, "spread")).scale
        self._units = Units(source.spec, scale)

    def policy(self) -> PlanningPolicy:
        """A planner without a past."""
        return PlanningPolicy(
            self._source.policy, self._source.simulator, self._cost, self._units, adaptation=self._adaptation()
        )

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Nothing to learn."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Nothing to save."""

    def restore(self, path: Path) -> None:
        """Nothing to restore."""
