"""Whose policy is carried across: the expert that ships with the task, or anybody's."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from isthmus.core import AnyPolicy, Problem
from isthmus.experts import load_expert
from isthmus.io import read_regular
from isthmus.policies import NetworkPolicy, load_policy
from isthmus.policies.finite import FinitePolicy
from isthmus.policies.observation import PRESETS, Body, ObservationSpec, edited, read_spec
from isthmus.tasks import Task
from isthmus.tasks.policy_body import policy_body

LARGEST_POLICY = 1 << 30
"""Bytes of a policy file."""


@dataclass(frozen=True)
class PolicyFile:
    """A policy in a file, and what it was trained with."""

    path: str
    normaliser: str | None = None
    """File with the VecNormalize statistics it was trained with."""
    layout: str | None = None
    """Gymnasium's version whose observation it sees; chosen by its size when not given."""
    observation_spec: str | None = None
    """Preset, or TOML file, that says what it is shown: see docs/observation-specs.md."""
    spec_edits: tuple[str, ...] = ()
    """Changes to that, as in term.joint_vel.scale=0.05."""
    reference: bool = False
    """Whether the file holds recorded observations instead, which are followed."""
    digest: str = ""
    """Of the files' content: a run goes on only with the policy it was begun with."""
    _trusted: ClassVar[bool] = False
    """Not a field: whoever starts a run trusts a file, and nothing that is read from a run does."""

    def __post_init__(self) -> None:
        """Take the digest of the files."""
        if not self.digest:
            content = hashlib.blake2b(digest_size=16)
            spec = self.observation_spec if self.observation_spec not in PRESETS else None
            for file in filter(None, (self.path, self.normaliser, spec)):
                try:
                    content.update(read_regular(Path(file), limit=LARGEST_POLICY, follow=True))
                except OSError as error:
                    if file == spec:
                        read_spec(file)  # says which presets there are
                    raise Problem(f"cannot read the policy file {file}: {error.strerror}") from error
            object.__setattr__(self, "digest", content.hexdigest())

    @property
    def options(self) -> dict[str, object]:
        """The options of a command that name it."""
        if self.reference:
            return {"source": self.path}
        return {
            "policy": self.path,
            "normaliser": self.normaliser,
            "layout": self.layout,
            "observation_spec": self.observation_spec,
            "spec_edit": self.spec_edits,
            "trust": self._trusted,
        }

    def trusted(self) -> "PolicyFile":
        """The same, whose ONNX file may loop and branch."""
        made = replace(self)
        object.__setattr__(made, "_trusted", True)
        return made

    def load(self, task: Task) -> AnyPolicy:
        """The policy, for the task's robot."""
        if self.reference:
            from isthmus.transfer.source.reference import load_reference_policy  # noqa: PLC0415 - only who follows one

            return load_reference_policy(Path(self.path), task)
        normaliser = Path(self.normaliser) if self.normaliser else None
        return load_policy(
            Path(self.path),
            task.views,
            task.robot_model.spec,
            layout=self.layout,
            normaliser=normaliser,
            trust=self._trusted,
            shown=self._shown(task),
        )

    def _shown(self, task: Task) -> tuple[ObservationSpec, Body] | None:
        """What the policy is shown: by its own spec, or by the one of the robot's file unless it has a layout."""
        if self.observation_spec is not None:
            if self.layout is not None:
                raise Problem(
                    "a layout and an observation spec say the same thing: give --layout or --observation-spec"
                )
            return read_spec(self.observation_spec, self.spec_edits), policy_body(task.robot_model)
        if task.observation_spec is not None and self.layout is None:
            return edited(task.observation_spec, *self.spec_edits), policy_body(task.robot_model)
        if self.spec_edits:
            raise Problem("--spec-edit changes an observation spec, and there is none: give --observation-spec")
        return None


def source_policy(task: Task, file: PolicyFile | None) -> AnyPolicy:
    """The policy of the source: the one in `file`, the one that comes with the task, or its expert."""
    policy = file.load(task) if file else task.policy or load_expert(task)
    return policy if file or isinstance(policy, NetworkPolicy) else FinitePolicy(policy)
