"""Training of the learned estimator, in simulations whose physics and sensors are drawn at random.

The policy moves in the simulations. At first it is shown the truth; in later rounds it is shown what the network of the
round before estimates, so that the network learns from the states that its own errors lead to.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isthmus.core import AnyPolicy, Float, Int, Mlp, Rows, stream
from isthmus.core.rollout import rollout
from isthmus.estimate.course import Course
from isthmus.estimate.frame import Frame
from isthmus.estimate.learned import WINDOW, LearnedFilter, features
from isthmus.estimate.stage import FilterStage
from isthmus.sim import MujocoWorld, RobotModel
from isthmus.sysid.physics import Physics

LEAST_NOISE, MOST_NOISE = 1e-3, 0.3
"""Noise and offsets of sensors are drawn between these shares of what changes in a step."""
PHYSICS = 0.5
"""Deviations of the physical parameters, as a share of those that may well be."""
LEAST_SCALE = 1e-6


@dataclass(frozen=True)
class Training:
    """How much is simulated, and how long a network is fitted."""

    worlds: int = 96
    steps: int = 300
    rounds: int = 6
    epochs: int = 20
    hidden: tuple[int, ...] = (128, 128)
    batch: int = 256
    learning_rate: float = 1e-3


class _Sensors:
    """An `Estimator` that shows noisy sensors to a filter, and records them beside the truth."""

    def __init__(self, stage: FilterStage | None, sigma: tuple[Float, Float], actions: int, seed: int) -> None:
        """Noise and offsets have deviations `sigma`, each (n, obs); without a stage the policy is shown the truth."""
        self._stage, self._noise, self._bias = stage, *sigma
        self._rng, self._actions = stream(seed, "sensors"), actions
        self._offset = np.zeros_like(self._noise)
        n = len(self._noise)
        self.true: list[list[Float]] = [[] for _ in range(n)]
        self.shown: list[list[Float]] = [[] for _ in range(n)]
        self.applied: list[list[Float]] = [[] for _ in range(n)]

    def begin(self, sensed: Float, rows: Rows) -> Float:
        self._offset[rows] = (self._bias * self._rng.standard_normal(self._bias.shape))[rows]
        shown = self._show(sensed, rows)
        return sensed if self._stage is None else self._stage.begin(shown, rows)

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        shown = self._show(sensed, rows)
        for row, action in zip(np.arange(len(self.applied))[rows], applied, strict=True):
            self.applied[row].append(action.copy())
        return sensed if self._stage is None else self._stage(shown, applied, rows)

    def _show(self, sensed: Float, rows: Rows) -> Float:
        noise = self._noise * self._rng.standard_normal(self._noise.shape)
        shown = sensed + (self._offset + noise)[rows]
        for row, true, seen in zip(np.arange(len(self.true))[rows], sensed, shown, strict=True):
            self.true[row].append(true.copy())
            self.shown[row].append(seen)
        return shown


def trained_network(
    policy: AnyPolicy, robot_model: RobotModel, sensed: Int, course: Course, seed: int, how: Training | None = None
) -> Mlp:
    """A network for the sensors `sensed` (m,), trained along the course of `policy`."""
    how = how or Training()
    network: Mlp | None = None
    inputs, answers = list[Float](), list[Float]()
    for number in range(how.rounds):
        for one in _recorded(policy, robot_model, sensed, course, (seed, number), how, network):
            inputs.append(one[0])
            answers.append(one[1])
        network = _fitted(np.concatenate(inputs), np.concatenate(answers), how, stream(seed, "fit", number))
    if network is None:
        raise ValueError("a network needs at least one round of training")
    return network


def _recorded(
    policy: AnyPolicy,
    robot_model: RobotModel,
    sensed: Int,
    course: Course,
    name: tuple[int, int],
    how: Training,
    network: Mlp | None,
) -> list[tuple[Float, Float]]:
    """What the network is to see and to answer, for each simulation of one round."""
    rng, n, spec = stream(name[0], "estimator", name[1]), how.worlds, robot_model.spec
    physics, frame = Physics(robot_model), Frame.of(robot_model, sensed)
    low, high = physics.bounds
    models = [
        physics.model(physics.values(np.clip(PHYSICS * rng.standard_normal(physics.size), low, high))) for _ in range(n)
    ]
    share = np.exp(rng.uniform(np.log(LEAST_NOISE), np.log(MOST_NOISE), (2, n, 1)))
    share[1] *= rng.integers(0, 2, (n, 1))  # half of the robots have no offsets
    stage = None
    if network is not None:
        one = LearnedFilter(network, frame, course.start, spec.action_size)
        stage = FilterStage(lambda: one, n, spec.action_size)
    sensors = _Sensors(stage, (share[0] * course.scale, share[1] * course.scale), spec.action_size, name[1])
    world = MujocoWorld(robot_model, n, models=models, estimator=sensors)
    for _ in rollout(world, policy, world.reset(rng), steps=min(how.steps, spec.horizon)):
        pass
    return [_example(sensors, row, frame) for row in range(n) if sensors.applied[row]]


def _example(sensors: _Sensors, row: int, frame: Frame) -> tuple[Float, Float]:
    """Windows of one simulation, and by how much the truth differs from the latest values, in the robot's frame."""
    shown, true = np.stack(sensors.shown[row])[:, frame.sensed], np.stack(sensors.true[row])
    angle = frame.angle(shown)
    times = np.array(range(len(shown)), np.int64)[:, None]
    windows = frame.shown(shown[np.maximum(times + np.array(range(1 - WINDOW, 1), np.int64), 0)], angle)
    before = times + np.array(range(1 - WINDOW, 0), np.int64)
    given = np.where((before >= 0)[..., None], np.stack(sensors.applied[row])[np.maximum(before, 0)], 0.0)
    answers = frame.turned(true, angle).copy()
    answers[:, frame.sensed] -= windows[:, -1]
    return features(windows[..., frame.looked_at], given), answers


def _fitted(inputs: Float, answers: Float, how: Training, rng: np.random.Generator) -> Mlp:
    """A network fitted by Adam, with a learning rate that falls to zero."""
    import torch  # noqa: PLC0415 - whoever only acts does without it
    from torch import nn  # noqa: PLC0415

    mean, scale = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), LEAST_SCALE)
    out_mean, out_scale = answers.mean(axis=0), np.maximum(answers.std(axis=0), LEAST_SCALE)
    x = torch.from_numpy(((inputs - mean) / scale).astype(np.float32))
    y = torch.from_numpy(((answers - out_mean) / out_scale).astype(np.float32))
    linear = [nn.Linear(*shape) for shape in pairwise((x.shape[1], *how.hidden, y.shape[1]))]
    with torch.no_grad():
        for layer in linear:
            weight = rng.standard_normal(tuple(layer.weight.shape)) * np.sqrt(2 / layer.in_features)
            layer.weight.copy_(torch.from_numpy(weight.astype(np.float32)))
            layer.bias.zero_()
    parts = [part for layer in linear for part in (layer, nn.ReLU())][:-1]
    network, size = nn.Sequential(*parts), min(how.batch, len(x))
    total = how.epochs * -(-len(x) // size)
    optimiser = torch.optim.AdamW(network.parameters(), lr=how.learning_rate, weight_decay=1e-5)
    done, threads = 0, torch.get_num_threads()
    torch.set_num_threads(1)  # a network this small gains nothing from more
    for _ in range(how.epochs):
        order = torch.from_numpy(rng.permutation(len(x)))
        for first in range(0, len(x), size):
            rows = order[first : first + size]
            for group in optimiser.param_groups:
                group["lr"] = how.learning_rate * (1 - done / total)
            loss = nn.functional.smooth_l1_loss(network(x[rows]), y[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            done += 1
    torch.set_num_threads(threads)
    weights = tuple(np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in linear)
    biases = tuple(layer.bias.detach().numpy().copy() for layer in linear)
    return Mlp(weights, biases, "relu", mean, scale, out_mean, out_scale)
