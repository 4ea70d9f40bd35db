"""What a policy is shown and what its actions mean, declared in a small file: an observation spec."""

from isthmus.policies.observation.body import Body
from isthmus.policies.observation.policy import SpecPolicy
from isthmus.policies.observation.presets import PRESETS
from isthmus.policies.observation.read import edited, parse_spec, read_spec
from isthmus.policies.observation.spec import ActionSpec, ObservationSpec, StackSpec, TermSpec

__all__ = [
    "PRESETS",
    "ActionSpec",
    "Body",
    "ObservationSpec",
    "SpecPolicy",
    "StackSpec",
    "TermSpec",
    "edited",
    "parse_spec",
    "read_spec",
]
