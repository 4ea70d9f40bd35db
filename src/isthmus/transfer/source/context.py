"""What is known of the source, and what a run works out of it before it meets a target."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from isthmus.adapt import Source
from isthmus.adapt.reference.policy import ReferencePolicy
from isthmus.core import AnyPolicy, Float, Int, Mlp, stream
from isthmus.estimate.course import Course, course_of
from isthmus.estimate.training import trained_network
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.tasks import Task
from isthmus.transfer.collection import observation_scale
from isthmus.transfer.records import Scored
from isthmus.transfer.source.policy import PolicyFile, source_policy
from isthmus.transfer.source.source import WORLDS, make_source
from isthmus.transfer.targets.target import Target


@dataclass(frozen=True)
class SourceContext:
    """A task, the policy for it and a seed; the rest follows, and is worked out once, when it is asked for."""

    task: Task
    policy: AnyPolicy
    seed: int
    _scores: dict[tuple[type[Target], int], tuple[Scored, Scored]] = field(default_factory=dict)
    _unadapted: dict[tuple[str, int], Scored] = field(default_factory=dict)
    _networks: dict[tuple[int, ...], Mlp] = field(default_factory=dict)

    @staticmethod
    def of(task: str, policy: PolicyFile | None, seed: int) -> "SourceContext":
        """By name and file."""
        loaded = load_task(task)
        return SourceContext(loaded, source_policy(loaded, policy), seed)

    @cached_property
    def source(self) -> Source:
        """What methods know of it."""
        return make_source(self.task, self.policy, self.seed)

    @cached_property
    def course(self) -> Course:
        """How the policy moves in the simulator, for estimators."""
        return course_of(self.policy, self.task.source(WORLDS), stream(self.seed, "course"))

    def estimator_network(self, sensed: Int) -> Mlp:
        """The network of a learned estimator for these sensors (m,)."""
        key = tuple(sensed.tolist())
        if key not in self._networks:
            made = trained_network(self.policy, self.task.robot_model, sensed, self.course, self.seed)
            self._networks[key] = made
        return self._networks[key]

    @cached_property
    def observation_scale(self) -> Float:
        """How much each observation varies along the policy's trajectory (obs,)."""
        if isinstance(self.policy, ReferencePolicy):
            std = self.policy.reference.observations.std(axis=0)
            return np.where(std > 0, std, 1.0)
        return observation_scale(self.policy, self.task.source(WORLDS), 1, stream(self.seed, "scale"))

    def scores(self, target: Target, episodes: int) -> tuple[Scored, Scored]:
        """What the zero action and the policy come to in the source, as `target` judges over so many episodes."""
        key = type(target), episodes
        if key not in self._scores:
            zero = ZeroPolicy(self.task.robot_model.spec.action_size)
            still, moving = (target.score_source(one, stream(self.seed, "evaluate")) for one in (zero, self.policy))
            self._scores[key] = still, moving
        return self._scores[key]

    def unadapted(self, target: Target, gap: str, episodes: int) -> Scored:
        """What the policy comes to as it is on the simulated `target` behind a gap, over so many episodes."""
        key = gap, episodes
        if key not in self._unadapted:
            self._unadapted[key] = target.score(self.policy, 1, stream(self.seed, "evaluate"))
        return self._unadapted[key]


@lru_cache(maxsize=1)
def shared_context(task: str, policy: PolicyFile | None, seed: int) -> SourceContext:
    """The same for runs that come one after the other in a process, as in a study: it is worked out once."""
    return SourceContext.of(task, policy, seed)
