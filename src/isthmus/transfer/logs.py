"""What a robot was recorded doing: in the folder of a run, or now, for this purpose alone."""

from pathlib import Path

from isthmus.adapt.settings import CollectSettings
from isthmus.core import AnyPolicy, Episode, Problem, stream
from isthmus.gaps import Gap
from isthmus.policies import Unadapted
from isthmus.robots import load_task
from isthmus.robots.registry import is_code
from isthmus.tasks import Task
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale
from isthmus.transfer.config import Config
from isthmus.transfer.folder import RunFolder

ROBOTS = 16


def is_run(path: Path) -> bool:
    """Whether this is, or may be meant as, the folder of a run: the folder of a log holds tables or bags."""
    if RunFolder(path).config_path.exists() or not (path.exists() or path.suffix):
        return True
    logs = ("*.csv", "*.db3", "*.mcap", "meta/info.json")
    return path.is_dir() and not any(next(path.glob(one), None) for one in logs)


def logged(path: Path, task: Task) -> list[Episode]:
    """All episodes that a run of `task` has recorded on its target."""
    folder = RunFolder(path)
    if not folder.config_path.exists():
        raise Problem(f"{path} is not the folder of a run: give the one that `isthmus transfer` wrote")
    folder.check()
    recorded, spec = Config.load(folder.config_path).task, task.robot_model.spec
    # A robot file is code: that of the run is not looked into, the one that the user named is the task.
    if not is_code(recorded) and load_task(recorded).robot_model.spec.observation_names != spec.observation_names:
        raise Problem(f"{path} is a run of {recorded}, not of {task.name}: name its task")
    episodes = folder.episodes()
    if not episodes:
        raise Problem(f"{path} holds no episodes: let its run collect some first")
    for one in (one for episode in episodes for one in episode):
        sizes = one.observations.shape[1], one.applied.shape[1]
        if sizes != (spec.observation_size, spec.action_size):
            raise Problem(
                f"{path} is a run of {recorded}, whose robot observes {sizes[0]} numbers and has {sizes[1]} actuators;"
                f" {task.name} has {spec.observation_size} and {spec.action_size}: name its task"
            )
    return episodes


def gather(task: Task, gap: Gap, policy: AnyPolicy, samples: int, seed: int) -> list[Episode]:
    """So many steps of `policy` as it is behind a gap, interrupted now and then as in a run's first round."""
    if samples < 1:
        raise Problem(f"samples must be at least 1, got {samples}")
    gap = gap.resolve(task.robot_model.model)
    gap.apply(task.robot_model.model)
    scale = observation_scale(policy, task.source(ROBOTS), 1, stream(seed, "scale"))
    unadapted = Unadapted(policy, task.source())
    episodes: list[Episode] = []
    left = samples
    while left:
        n = min(ROBOTS, left)
        wave = collect(
            task.robot(gap, n),
            unadapted,
            ReferenceRollout(policy, task.source(n), 1, scale),
            CollectSettings(),
            history=1,
            length=task.robot_model.spec.horizon,
            budget=left,
            rng=stream(seed, "gather", len(episodes)),
        )
        left -= sum(one.samples for episode in wave for one in episode)
        episodes += wave
    return episodes
