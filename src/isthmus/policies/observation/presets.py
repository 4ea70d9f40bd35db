"""Layouts of common frameworks, as an observation spec's file would have them.

Joints, default pose and the scale of actions differ from robot to robot: a file that begins with `preset = "..."` gives
its own, and changes what else is different.
"""

from collections.abc import Mapping
from typing import Any

_STACKED_BY_TERM = {"order": "oldest first", "by": "term", "fill": "first"}
_MJLAB_TERMS = (
    *("base_lin_vel", "base_ang_vel", "projected_gravity", "joint_pos", "joint_vel"),
    *("last_action", "command"),
)
_ISAAC_TERMS = (
    *("base_lin_vel", "base_ang_vel", "projected_gravity", "command", "joint_pos", "joint_vel"),
    "last_action",
)
_JOINT_TARGETS = {"scale": 0.5, "offset": "default_pose"}
_LEGGED_GYM = {
    "clip": 100.0,
    "stack": {"order": "oldest first", "by": "frame", "fill": "zero"},
    "actions": {"scale": 0.25, "offset": "default_pose", "clip": 100.0},
    "term": {
        "base_lin_vel": {"scale": 2.0},
        "base_ang_vel": {"scale": 0.25},
        "command": {"scale": [2.0, 2.0, 0.25]},
        "joint_vel": {"scale": 0.05},
    },
}
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "mjlab": {"terms": _MJLAB_TERMS, "stack": _STACKED_BY_TERM, "actions": _JOINT_TARGETS},
    "mjlab-blind": {"terms": _MJLAB_TERMS[1:], "stack": _STACKED_BY_TERM, "actions": _JOINT_TARGETS},
    "isaac-lab": {"terms": _ISAAC_TERMS, "stack": _STACKED_BY_TERM, "actions": _JOINT_TARGETS},
    "isaac-lab-blind": {"terms": _ISAAC_TERMS[1:], "stack": _STACKED_BY_TERM, "actions": _JOINT_TARGETS},
    "legged-gym": {"terms": _ISAAC_TERMS, **_LEGGED_GYM},
    "legged-gym-blind": {"terms": _ISAAC_TERMS[1:], **_LEGGED_GYM},
    "playground": {
        "terms": _MJLAB_TERMS,
        "stack": {"order": "newest first", "by": "frame", "fill": "zero"},
        "actions": _JOINT_TARGETS,
    },
}
"""By name. `blind` ones do not show the linear velocity of the base, which a robot does not measure."""
