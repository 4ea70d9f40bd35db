"""The adapted policy of a finished run, ready to be used."""

import numpy as np

from isthmus.adapt import make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.core import AnyPolicy, Float, HistoryBuffer, Problem, WorldSpec, act, initial_state
from isthmus.estimate.policy import SENSED
from isthmus.robots import load_task
from isthmus.robots.registry import is_code
from isthmus.tasks import Task
from isthmus.transfer.config import Config
from isthmus.transfer.estimation import estimation_of
from isthmus.transfer.folder import RunFolder
from isthmus.transfer.source.context import SourceContext
from isthmus.transfer.source.policy import source_policy


class Controller:
    """An adapted policy at the control of one robot: it gets every observation, and gives the command."""

    def __init__(self, spec: WorldSpec, policy: AnyPolicy, history: int) -> None:
        """Begin an episode with `policy`, which acts on the last `history` observations."""
        self.spec, self.policy, self.history = spec, policy, history
        self.begin()

    def begin(self) -> None:
        """Begin an episode: forget what was observed before."""
        self._buffer = HistoryBuffer(self.spec, 1, self.history)
        self._command: Float | None = None
        self._state = initial_state(self.policy, 1)

    def __call__(self, observation: Float) -> Float:
        """The command (act,) after an observation (obs,), within the actuators' limits."""
        seen = np.asarray(observation, np.float64)[None]
        if self._command is None:
            self._buffer.begin(seen)
        else:
            self._buffer.append(self._command, seen)
        commands, self._state = act(self.policy, self._buffer.window, self._state)
        self._command = self.spec.clip(commands)
        return self._command[0]


def load_adapted(folder: RunFolder, task: Task | None = None) -> Controller:
    """The adapted policy of a finished run.

    A robot file is code. It is run only by whoever loads it: a run of one needs its `task`.
    """
    config = Config.load(folder.config_path)
    if task is None and is_code(config.task):
        raise Problem(f"{folder.path} is of the robot file {config.task}: give task=load_task({config.task!r})")
    task = task or load_task(config.task)
    context = SourceContext(task, source_policy(task, config.policy), config.seed)
    method, estimation = make_method(config.method, context.source, config.settings), estimation_of(config, context)
    for number, _ in enumerate(folder.rounds()):
        method.restore(MethodState.read(folder.model_path(number), method.kind))
        if estimation is not None:
            estimation.restore(folder.estimator_path(number))
    policy, history = method.policy(), method.history
    if estimation is not None:
        policy, history = estimation.behind(policy, history), max(history, SENSED)
    return Controller(task.robot_model.spec, policy, history)
