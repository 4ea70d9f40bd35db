"""Arguments that several commands have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from isthmus.core import Problem
from isthmus.experts import shipped_policy
from isthmus.transfer import PolicyFile

if TYPE_CHECKING:
    from isthmus.tasks import Task


def split_names(words: Sequence[str]) -> tuple[str, ...]:
    """Names with spaces or commas between them: `a b`, `a,b` and `a, b` are the same."""
    return tuple(name.strip() for word in words for name in word.split(",") if name.strip())


def reward_name(task: "Task") -> str:
    """What a task's return is made of, for people."""
    return "Gym's own reward" if task.gym_id else "the task's reward"


TaskArgument = Annotated[
    Positional[str],
    arg(
        metavar="TASK",
        help="The robot and its task: see `isthmus list tasks`; or a robot file, as in my_robot.py, which is code and "
        "is run.",
    ),
]


@dataclass(frozen=True)
class PolicyOptions:
    """The policy to use, and what it was trained with."""

    policy: Path | None = None
    """Another policy than the task's expert: .npz (ours), .zip (Stable-Baselines3) or .onnx; or anymal-blind, which
    ships."""
    normaliser: Path | None = None
    """VecNormalize statistics (.pkl) that the policy was trained with."""
    layout: str | None = None
    """Gymnasium's version whose observation the policy sees, as in v5, or v3+time with RL Zoo's time feature."""
    observation_spec: str | None = None
    """What the policy is shown and what its actions mean: a preset (mjlab, isaac-lab, legged-gym, playground), or a
    TOML file; POLICY.observation.toml beside the policy when not given (docs/observation-specs.md)."""
    spec_edit: tuple[str, ...] = ()
    """Changes to the observation spec, as in term.joint_vel.scale=0.05; `isthmus check` proposes them."""
    trust: bool = False
    """Accept what is otherwise refused because it could run code or take long: ONNX policies that loop or branch."""

    @property
    def file(self) -> PolicyFile | None:
        """The policy that is asked for; None for the task's expert."""
        if self.policy is None:
            if self.normaliser or self.layout:
                raise Problem("--normaliser and --layout go with --policy: give the policy they belong to")
            if self.observation_spec or self.spec_edit:
                raise Problem("--observation-spec and --spec-edit go with --policy: give the policy they belong to")
            return None
        policy = self.policy if self.policy.exists() else shipped_policy(str(self.policy)) or self.policy
        file = PolicyFile(
            str(policy),
            str(self.normaliser) if self.normaliser else None,
            self.layout,
            self.observation_spec or self._beside(policy),
            self.spec_edit,
        )
        return file.trusted() if self.trust else file

    def _beside(self, policy: Path) -> str | None:
        """The observation spec that lies beside a policy, unless a layout is given."""
        spec = policy.with_suffix(".observation.toml")
        return str(spec) if self.layout is None and spec.is_file() else None


PolicyArgument = Annotated[PolicyOptions, arg(name="")]
"""A field of a command: its options have no prefix."""
EXPERT = PolicyOptions()
"""The task's own policy."""
