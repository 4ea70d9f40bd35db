"""A walking policy that sees encoders, IMU, command and its last action only, taught by one that sees everything.

The teacher needs a clock and the base's velocity. The student has neither: its last action tells where in a stride it
is. It learns by DAgger (Ross et al. 2011): the student walks, and the teacher says what it would have done at the point
of the stride that the student's own actions are nearest to.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from isthmus.core import Float, History, Mlp, act, stream
from isthmus.deploy.networks import network_onnx
from isthmus.io import write_whole
from isthmus.policies import NetworkPolicy
from isthmus.policies.observation import ObservationSpec, SpecPolicy, parse_spec
from isthmus.robots.anymal.inertias import inertial_models
from isthmus.robots.anymal.model import JOINTS, STANCE
from isthmus.robots.anymal.task import CLOCK, make_anymal
from isthmus.sim import MujocoWorld
from isthmus.tasks.policy_body import policy_body

MODELS = 30
SEARCHED = np.linspace(-0.06, 0.06, 13)
"""Seconds around the expected point of the stride among which the nearest is chosen."""
POLICY, SPEC = "policy.onnx", "policy.observation.toml"


@dataclass(frozen=True)
class Lessons:
    """How much the student learns from."""

    robots: int = 96
    steps: int = 200
    """Control steps of each robot in a lesson."""
    lessons: int = 8
    taught: int = 1
    """Lessons at the start in which the teacher walks."""
    epochs: int = 4
    """Times that all that was seen so far is gone through after a lesson."""
    last_epochs: int = 20
    """The same after the last one."""
    hidden: tuple[int, ...] = (256, 128)
    noise: float = 0.1
    """Standard deviation of what is added to actions, in units of the student's action."""


def blind_spec() -> ObservationSpec:
    """The layout of mjlab without the linear velocity of the base, for ANYmal."""
    return parse_spec(blind_document())


def blind_document() -> dict[str, Any]:
    """The same as in a file."""
    pose = dict(zip(JOINTS, np.round(STANCE, 6).tolist(), strict=True))
    return {"preset": "mjlab-blind", "joints": list(JOINTS), "default_pose": pose}


def teach(teacher: NetworkPolicy, lessons: Lessons, seed: int, watch: Callable[[int, float], None]) -> Mlp:
    """The student after all lessons; `watch` hears of each one how many of its robots fell."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    task, rng = make_anymal(), stream(seed, "anymal", "blind")
    models = inertial_models(task.robot_model.model, MODELS, stream(seed, "anymal", "inertias"))
    turns = [models[row % MODELS] for row in range(lessons.robots)]
    world = MujocoWorld(task.robot_model, lessons.robots, models=turns, threads=1)
    body = policy_body(task.robot_model)
    shown = SpecPolicy(blind_spec(), body, teacher).shown
    student = _Student(shown.size, lessons)
    frames, wanted = list[Float](), list[Float]()
    for lesson in range(lessons.lessons):
        seen, fell = world.reset(rng), 0
        phase, last = np.zeros(lessons.robots), np.zeros((lessons.robots, 1, len(JOINTS)))
        for _ in range(lessons.steps):
            frame = shown.frame(seen, last, phase)
            asked = (_at_phase(teacher, seen, phase) - shown.commands.offset) / shown.commands.scale
            frames.append(frame)
            wanted.append(asked)
            given = asked if lesson < lessons.taught else student(frame)
            given = given + lessons.noise * rng.standard_normal(given.shape)
            phase = _nearest(teacher, seen, phase, shown.commands(given)) + task.robot_model.spec.control_period
            step = world.step(shown.commands(given))
            last, seen = given[:, None], step.observations
            if step.ended.any():
                fell += int(step.ended.sum())
                seen = world.reset(rng, step.ended)
                phase[step.ended], last[step.ended] = 0.0, 0.0
        epochs = lessons.epochs if lesson + 1 < lessons.lessons else lessons.last_epochs
        student.learn(np.concatenate(frames), np.concatenate(wanted), epochs, rng)
        watch(lesson + 1, fell / lessons.robots)
    return student.network()


def write_blind(network: Mlp, folder: Path) -> Path:
    """Write the student as ONNX, with its observation spec beside it; returns where the policy is."""
    said = blind_document()
    pose = ", ".join(f"{joint} = {angle}" for joint, angle in said["default_pose"].items())
    text = f'preset = "{said["preset"]}"\njoints = {said["joints"]}\ndefault_pose = {{{pose}}}\n'
    write_whole(folder / POLICY, network_onnx(network))
    write_whole(folder / SPEC, text.encode())
    return folder / POLICY


def _at_phase(teacher: NetworkPolicy, seen: Float, phase: Float) -> Float:
    """What the teacher would command (n, act) were the robots at that point of their stride."""
    at = seen.copy()
    at[:, CLOCK] = phase
    return act(teacher, History.of(at))[0]


def _nearest(teacher: NetworkPolicy, seen: Float, phase: Float, commands: Float) -> Float:
    """The point of the stride (n,), near the expected one, at which the teacher would command most alike."""
    tried = phase[:, None] + SEARCHED  # (n, k)
    told = _at_phase(teacher, np.repeat(seen, len(SEARCHED), axis=0), tried.ravel())
    apart = np.square(told.reshape(*tried.shape, -1) - commands[:, None]).sum(axis=2)
    return tried[np.arange(len(tried)), apart.argmin(axis=1)]


class _Student:
    """A network in training, with inputs standardised by what the teacher's lessons showed."""

    def __init__(self, size: int, lessons: Lessons) -> None:
        layers, inputs = list[nn.Module](), size
        for width in lessons.hidden:
            layers += [nn.Linear(inputs, width), nn.ReLU()]
            inputs = width
        self._net = nn.Sequential(*layers, nn.Linear(inputs, len(JOINTS)))
        self._mean, self._scale = np.zeros(size), np.ones(size)
        self._fitted = False

    def __call__(self, frames: Float) -> Float:
        with torch.no_grad():
            inputs = ((frames - self._mean) / self._scale).astype(np.float32)
            return self._net(torch.from_numpy(inputs)).double().numpy()

    def learn(self, frames: Float, wanted: Float, epochs: int, rng: np.random.Generator) -> None:
        """Go through all pairs a few times, with a learning rate that falls to zero."""
        if not self._fitted:
            std = frames.std(axis=0)
            self._mean, self._scale = frames.mean(axis=0), np.where(std > 1e-3, std, 1.0)
            self._fitted = True
        inputs = torch.from_numpy(((frames - self._mean) / self._scale).astype(np.float32))
        outputs = torch.from_numpy(wanted.astype(np.float32))
        batch = 1024
        total = epochs * -(-len(inputs) // batch)
        optimiser = torch.optim.Adam(self._net.parameters(), lr=1e-3)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=total)
        for _ in range(epochs):
            order = torch.from_numpy(rng.permutation(len(inputs)))
            for first in range(0, len(inputs), batch):
                rows = order[first : first + batch]
                loss = (self._net(inputs[rows]) - outputs[rows]).square().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()

    def network(self) -> Mlp:
        """The student as a plain network."""
        layers = [layer for layer in self._net if isinstance(layer, nn.Linear)]
        return Mlp(
            weights=tuple(np.array(layer.weight.detach().numpy().T) for layer in layers),
            biases=tuple(np.array(layer.bias.detach().numpy()) for layer in layers),
            activation="relu",
            input_mean=self._mean,
            input_scale=self._scale,
            output_mean=np.zeros(len(JOINTS)),
            output_scale=np.ones(len(JOINTS)),
        )
