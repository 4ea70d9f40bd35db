"""Finished runs in memory, and bundles of them: what was learned is made up, so that nothing has to be learned."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, make_method
from isthmus.adapt.auto.method import KIND as AUTO
from isthmus.adapt.baselines.pd import KIND as PD
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.response import Response
from isthmus.adapt.conditioned.method import KIND as TOLD
from isthmus.adapt.finetune.storage import state_of
from isthmus.adapt.inverse_network import InverseNetwork
from isthmus.adapt.model_inverse.method import KIND as PHYSICS
from isthmus.adapt.preview.arx import ArxModel
from isthmus.core import History, HistoryBuffer, Mlp, act, initial_state, stream
from isthmus.deploy.export import FinishedRun, export_bundle
from isthmus.deploy.load import no_conditioned, no_finetuner
from isthmus.experts import expert_path
from isthmus.gaps import Gap
from isthmus.policies import NetworkPolicy
from isthmus.policies.finetuner import Trained
from isthmus.robots import load_task
from isthmus.transfer import Config
from isthmus.transfer.source.policy import source_policy
from isthmus.transfer.source.source import make_source

SETTINGS = MethodSettings(history=2)


@cache
def source_of(text):
    """What methods know of a robot, worked out once."""
    task = load_task(text)
    own = task.policy is not None or expert_path(task.name).exists()
    size = task.robot_model.spec.action_size
    policy = source_policy(task, None) if own else NetworkPolicy(network(task.view.size, size, 8), task.view.see)
    made = replace(make_source(task, policy, 0), finetuner=no_finetuner)
    return task, replace(made, robust=lambda: shifted(made.policy, -0.2), conditioned=no_conditioned)


def shifted(policy, by):
    """A network policy whose actions are all off by so much, as if it had been trained on."""
    network = policy.network
    biases = (*network.biases[:-1], network.biases[-1] + np.float32(by))
    return replace(policy, network=replace(network, biases=biases))


def network(inputs, outputs, *sizes, clip=np.inf):
    """A network with random numbers, of which none is special."""
    rng, sizes = np.random.default_rng(1), [inputs, *sizes, outputs]
    pairs = [*pairwise(sizes)]
    weights = tuple((rng.normal(size=pair) / np.sqrt(pair[0])).astype(np.float32) for pair in pairs)
    biases = tuple((0.3 * rng.normal(size=size)).astype(np.float32) for size in sizes[1:])
    scales = rng.uniform(0.5, 2, inputs), 0.2 * rng.normal(size=outputs), rng.uniform(0.5, 3, outputs)
    return Mlp(weights, biases, "tanh", rng.normal(size=inputs), *scales, clip)


def response(spec, history=2, *, std=0.3, correlation=0.9, saturates=True):
    """How a robot answers, with random weights; noise is at its first actuator only."""
    rng, size, d = np.random.default_rng(2), spec.action_size, len(spec.targets)
    first = np.arange(size) == 0
    disturbance = AR1Disturbance(std * first, correlation * first, np.full(size, 0.05), saturates=saturates)
    weights = 0.1 * rng.normal(size=(1 + d + history * size, size))
    return Response(
        weights, rng.normal(size=d), rng.uniform(0.5, 2, d), spec.half_range, spec.targets, disturbance, spec.middle
    )


def inverse(spec):
    k, obs = 2, len(spec.robot_dimensions)
    inputs = k * obs + (k - 1) * spec.action_size + len(spec.targets)
    targets = np.searchsorted(spec.robot_dimensions, spec.targets)
    made = InverseNetwork(network(inputs, spec.action_size, 8), k, targets)
    return made if obs == spec.observation_size else replace(made, sensed=spec.robot_dimensions)


def physics(source):
    return MethodState(PHYSICS, {"z": 0.2 * np.random.default_rng(3).normal(size=source.physics.size)})


def arx(spec):
    rng, sensed, past = np.random.default_rng(4), len(spec.robot_dimensions), 2
    weights = 0.05 * rng.normal(size=(1 + sensed + (1 + past) * spec.action_size, sensed))
    weights[1 + sensed : 1 + sensed + spec.action_size, : spec.action_size] += 0.5 * np.eye(spec.action_size)
    return ArxModel(weights, past)


def trained(source):
    network = shifted(source.policy, 0.1).network
    return state_of(Trained(network, np.full(source.spec.action_size, 0.1), {"critic": np.ones(3)}), studied=1)


def auto(source, taken, late=0):
    answer = response(source.spec, 1 if late else 2, correlation=0.0 if late else 0.9)
    parts = {"residual-action": answer.state(), "model-inverse": physics(source)}
    chosen = parts.get(taken.partition(",")[0])
    packed = parts | ({} if chosen is None else {"as before": chosen})
    return MethodState(AUTO, {name: one.packed() for name, one in packed.items()}, {"taken": taken, "late": late})


def told(source):
    """A network that was told some physics."""
    network = shifted(source.policy, 0.3).network
    return MethodState(TOLD, {**physics(source).arrays, **network.arrays()}, {"activation": network.activation})


LEARNED = {
    "inverse": ("inverse", lambda source: inverse(source.spec).state()),
    "correction": ("correction", lambda source: inverse(source.spec).state()),
    "residual-action": ("residual-action", lambda source: response(source.spec).state()),
    "residual-action, no observer": (
        "residual-action",
        lambda source: response(source.spec, correlation=0.0).state(),
    ),
    "auto": ("auto", lambda source: auto(source, "residual-action")),
    "auto, unadapted": ("auto", lambda source: auto(source, "unadapted")),
    "auto, other weights": ("auto", lambda source: auto(source, "model-inverse, even weights")),
    "auto, late": ("auto", lambda source: auto(source, "residual-action", late=2)),
    "auto, late, unadapted": ("auto", lambda source: auto(source, "delay-compensated", late=1)),
    "preview": ("preview", lambda source: arx(source.spec).state()),
    "model-inverse": ("model-inverse", physics),
    "pd": ("pd", lambda source: MethodState(PD, {"gains": np.outer((3.0, 0.5, 0.1), source.spec.half_range)})),
    "output-error": ("output-error", None),
    "gaussian": ("gaussian", None),
    "fine-tune": ("fine-tune", trained),
    "rl-on-target": ("rl-on-target", trained),
    "conditioned": ("conditioned", told),
    "robust": ("robust", None),
    "unadapted": ("unadapted", None),
}
"""A method, and what it may have learned."""


def finished(text, case, gap="none"):
    """A run of one method, as it would be read from its folder."""
    name, learned = LEARNED[case]
    task, source = source_of(text)
    config = Config(text, gap, name, settings=SETTINGS)
    method, state = make_method(name, source, SETTINGS), None
    if learned is not None:
        state = learned(source)
        method.restore(state)
    return FinishedRun(config, task, source, method, state, method.policy())


def commands_of(run, observations, applied):
    """What the run's own policy commands along observations (T, obs), the way a robot's world would ask it."""
    spec = run.task.robot_model.spec
    buffer, state, given = HistoryBuffer(spec, 1, run.method.history), initial_state(run.policy, 1), []
    for row, seen in enumerate(observations):
        if row:
            buffer.append(applied[row - 1][None], seen[None])
        else:
            buffer.begin(seen[None])
        command, state = act(run.policy, buffer.window, state)
        given.append(spec.clip(command)[0])
    return np.array(given)


def course(run, steps=12):
    """Observations on a target, and what was applied between them: not quite what is commanded."""
    world, rng = run.task.target(Gap.parse(run.config.gap)), stream(3, "course")
    spec = run.task.robot_model.spec
    seen, applied, now = [], [], world.reset(rng)
    for _ in range(steps):
        noise = 0.1 * spec.half_range * rng.standard_normal(spec.action_size)
        step = world.step(act(run.source.policy, History.of(now))[0] + noise)
        seen.append(now[0])
        applied.append(step.applied[0])
        now = step.observations
    return np.array(seen), np.array(applied)


@pytest.fixture(autouse=True, scope="session")
def _measure_briefly():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("isthmus.transfer.control_step.PATIENCE", 0.0)
        yield


@pytest.fixture(scope="session")
def reacher_bundle(tmp_path_factory):
    """A bundle of `residual-action` on Reacher, and its run."""
    run = finished("reacher", "residual-action", "tilt=60")
    out = tmp_path_factory.mktemp("reacher") / "bundle"
    export_bundle(run, out)
    return out, run
