"""All arms side by side on the stand-in."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from isthmus.core import Float
from isthmus.experiments.anymal.experiment import ARMS, Plan, mean_action, trained_policy
from isthmus.experiments.anymal.trials import Walker, bare_trot, walk
from isthmus.io import write_whole
from isthmus.report.storyboard import Storyboard
from isthmus.report.video import NothingToDrawWithHere, Video, draw
from isthmus.robots.anymal.remote import RemoteAnymals
from isthmus.robots.anymal.task import VELOCITY, make_anymal

STEPS = 600
"""Control steps of the film, two of which make a frame."""


def film_arms(plan: Plan, out: Path, say: Callable[[str], None]) -> Video:
    """The first seed of each arm and the bare trot at 0.5 m/s, with the same pushes; also in `out` as anymal.mp4."""
    walkers: dict[str, Walker] = {}
    for arm in ARMS:
        found = sorted((out / "runs").glob(f"{arm}-0-*/policy.npz"))
        if found:
            walkers[arm] = mean_action(trained_policy(found[0]))
    walkers["bare trot"] = bare_trot
    steps = min(STEPS, plan.steps)
    say("filming all arms")
    poses = np.stack([_poses(plan.robot, walker, steps) for walker in walkers.values()])
    task = make_anymal()
    model, period = task.robot_model.model, task.robot_model.spec.control_period
    camera = {name: tuple(value) for name, value in task.camera.items()}
    try:
        mp4, reason = draw(lambda: Storyboard(model, model, poses[:, ::2], 0.5 / period, camera), out)
    except NothingToDrawWithHere as error:
        mp4, reason = b"", f"nothing to draw off-screen with was found ({error})"
    if not mp4:
        say(f"there is no video: {reason}")
        return Video(text=f"There is no video: {reason}.")
    write_whole(out / "anymal.mp4", mp4)
    return Video(mp4, f"From left to right, trained with: {', '.join(walkers)}. Commanded 0.5 m/s, the same pushes.")


def _poses(robot: str, walker: Walker, steps: int) -> Float:
    """Positions (steps, nq) of one robot in a walk; where it is on the floor follows from its velocity."""
    seen: list[Float] = []
    with RemoteAnymals(robot, 1) as robots:
        walk(robots, walker, 0, steps=steps, look=lambda _step, now: seen.append(now[0]))
    observed = np.stack(seen)
    place = np.cumsum(observed[:, VELOCITY : VELOCITY + 2], axis=0) * make_anymal().robot_model.spec.control_period
    return np.concatenate([place, observed[:, :VELOCITY]], axis=1)
