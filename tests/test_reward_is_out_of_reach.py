"""Adaptation never sees the reward: it cannot import it, it is not given it, and it works where there is none."""

import ast
import dataclasses
import importlib.util
import inspect
import typing
from pathlib import Path

import grimp
import numpy as np
import pytest

from isthmus.adapt import METHODS, Explorer, FitReport, Method, MethodSettings, Source, SourceCost, make_method
from isthmus.adapt.settings import CollectSettings, FitSettings
from isthmus.core import History, HistoryBuffer, Mlp, Simulator, Step, Trajectory, World, act, stream
from isthmus.core.arrays import Float
from isthmus.core.protocols import Placeable
from isthmus.experts.conditioned import Told
from isthmus.experts.finetuner import FINETUNE, PpoFinetuner
from isthmus.gaps import Gap, Ranges
from isthmus.policies import Decision, NetworkPolicy
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.sim import SealedRobot
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale
from isthmus.transfer.source.source import (
    conditioned_for,
    finetuner_in,
    rehearsal_in,
    robust_for,
    source_cost,
    stand_in_for,
)

ADAPTATION = ("adapt", "transfer.collection", "sysid", "policies", "io")
REWARD = ("tasks", "robots", "evaluate", "experts")
REWARDING = ("reward", "score", "return", "value", "cost", "measure", "info")
"""Words that would be in the name of a reward, or of something one could be made of."""


# It cannot import it


@pytest.fixture(scope="module")
def imports():
    return grimp.build_graph("isthmus", cache_dir=None)


@pytest.mark.parametrize("reward", REWARD)
@pytest.mark.parametrize("adaptation", ADAPTATION)
def test_no_chain_of_imports_leads_from_adaptation_to_the_reward(imports, adaptation, reward):
    chains = imports.find_shortest_chains(f"isthmus.{adaptation}", f"isthmus.{reward}", as_packages=True)
    assert chains == set()


def test_the_search_for_chains_finds_those_there_are(imports):
    assert imports.find_shortest_chains("isthmus.evaluate", "isthmus.tasks", as_packages=True)
    assert imports.find_shortest_chains("isthmus.adapt", "isthmus.sysid", as_packages=True)


@pytest.mark.parametrize("adaptation", ADAPTATION)
def test_adaptation_imports_nothing_by_a_name_made_up_at_run_time(adaptation):
    """Such an import would be in no graph."""
    package = importlib.util.find_spec(f"isthmus.{adaptation}")
    origin = Path(package.origin)
    files = list(origin.parent.rglob("*.py")) if package.submodule_search_locations else [origin]
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                assert not [name for name in modules if name.partition(".")[0] in {"importlib", "runpy", "sys"}], file
            if isinstance(node, ast.Name):
                assert node.id not in {"__import__", "exec", "eval", "compile"}, file


# It is not given it


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Step, {"observations", "applied", "ended"}),
        (Trajectory, {"observations", "commands", "applied", "source", "wanted", "context"}),
        (Decision, {"source", "wanted", "command"}),
    ],
)
def test_what_adaptation_gets_has_no_field_that_could_hold_a_reward(kind, fields):
    assert {field.name for field in dataclasses.fields(kind)} == fields


def test_the_only_cost_adaptation_is_given_is_that_of_the_source(reacher):
    """Planners know what the simulation they plan in costs. It cannot be asked about the target: it has no such way."""
    assert {field.name for field in dataclasses.fields(Source)} == {
        *(
            "policy",
            "simulator",
            "unclamped",
            "spec",
            "seed",
            "robust",
            "stand_in",  # the robust policy again
            "robot_model",
        ),
        *("cost", "finetuner", "rehearsal", "facts"),
        "reference",  # observations of the source
        "conditioned",  # a policy that is told physical parameters
        "identified",  # physics, from what the target's sensors showed
    }
    assert {field.name for field in dataclasses.fields(SourceCost)} == {"predict", "cost"}
    for made_from in (source_cost, finetuner_in, robust_for, stand_in_for, conditioned_for, rehearsal_in):
        given = set(inspect.signature(made_from).parameters)
        assert given <= {"task", "expert", "policy", "seed", "rng", "estimation"}  # neither a gap nor a target
    observations, actions = reacher.source(2).reset(stream(0, "cost")), np.full((2, 2), 0.3)
    seen, *_ = source_cost(reacher).predict(observations, actions, len(actions))
    np.testing.assert_allclose(seen, reacher.source().predict(History.of(observations), actions), atol=1e-9)


@pytest.mark.parametrize("kind", [World, Placeable, Simulator])
def test_no_method_of_a_world_returns_a_reward(kind):
    returned = {"reset": Float, "step": Step, "place": Float, "predict": Float}
    methods = {name for name in dir(kind) if not name.startswith("_") and inspect.isfunction(getattr(kind, name))}
    assert {"reset", "step"} <= methods <= set(returned)
    for name in methods:
        assert typing.get_type_hints(getattr(kind, name))["return"] == returned[name]
    assert {name for name in dir(kind) if not name.startswith("_")} - methods == {"spec", "n"}


def names_in(thing):
    names = {name for name in dir(thing) if not name.startswith("__")}
    for name in set(names):
        member = inspect.getattr_static(thing, name)
        if inspect.isfunction(member):
            names |= set(inspect.signature(member).parameters)
    return names


@pytest.mark.parametrize("kind", [SealedRobot, ReferenceRollout, Method, FitReport, Step, Trajectory])
def test_nothing_adaptation_meets_speaks_of_a_reward(kind):
    assert not [name for name in names_in(kind) if any(word in name.lower() for word in REWARDING)]


def test_neither_collecting_nor_learning_takes_a_task():
    for function in (collect, observation_scale, make_method, ReferenceRollout.__init__, Method.learn):
        hints = typing.get_type_hints(function)
        assert not [
            hint for hint in hints.values() if "isthmus.tasks" in repr(hint) or "isthmus.evaluate" in repr(hint)
        ]


# It works where there is none


class NoReward(Exception):  # noqa: N818 - it is what has been asked for
    """Somebody wanted to know the reward."""


def asked(*_args):
    raise NoReward


UNPAID = sorted(name for name, kind in METHODS.items() if not kind.sees_reward)


def test_only_one_method_is_paid_and_it_says_so():
    assert set(METHODS) - set(UNPAID) == {"rl-on-target"}
    assert "THE TARGET'S REWARD" in METHODS["rl-on-target"].sees
    assert not [name for name in UNPAID if "target's reward" in METHODS[name].sees.lower()]


@pytest.mark.parametrize("method_name", UNPAID)
def test_adaptation_works_on_a_target_whose_reward_nobody_may_ask_for(reacher, method_name):
    task = dataclasses.replace(reacher, measure=asked, reward=asked, score=asked)
    with pytest.raises(NoReward):
        task.measure(task.source().fields)
    gap, spec = Gap.parse("tilt=90"), task.robot_model.spec
    settings = MethodSettings(
        history=2,
        collect=CollectSettings(placed=1),
        fit=FitSettings(hidden=(8,), epochs=2),
    )

    damper = np.zeros((11, 2), np.float32)  # for want of an expert
    damper[[6, 7], [0, 1]] = -0.1
    network = Mlp((damper,), (np.zeros(2, np.float32),), "tanh", np.zeros(11), np.ones(11), np.zeros(2), np.ones(2))
    policy = NetworkPolicy(network)
    told = Told.of(reacher, Ranges.parse("mass=0.5:2"))
    conditioned = ConditionedPolicy(told.widened(network), told.names, told.low, told.high)
    # What the simulation costs may be known; the target's task is the one above.
    little = dataclasses.replace(FINETUNE, steps=100, worlds=2, batch=50, epochs=1)
    source = Source(
        *(policy, task.source(), task.unclamped(4), spec, 0, source_cost(reacher)),
        robot_model=task.robot_model,
        finetuner=lambda one: PpoFinetuner(reacher, one, little, critic_steps=100),
        robust=lambda: policy,
        conditioned=lambda: conditioned,
        rehearsal=rehearsal_in(reacher, policy, 0),
    )
    method, robot = make_method(method_name, source, settings), task.robot(gap)
    assert not isinstance(method, Explorer)
    course = ReferenceRollout(
        policy, task.source(), 1, observation_scale(policy, task.source(4), 1, stream(0, "scale"))
    )
    episodes = []
    for number in range(2):
        for wave in range(2):
            episodes += collect(
                robot,
                method.policy(),
                course,
                settings.collect,
                history=method.history,
                length=10,
                budget=40,
                rng=stream(0, "collect", number, wave),
            )
        if method.needs_target_data:
            assert np.isfinite(method.learn(episodes, number, lambda _epoch, _loss: None).error).all()
    assert robot.samples == sum(one.samples for episode in episodes for one in episode) > 0
    buffer = HistoryBuffer(spec, 1, method.history)
    buffer.begin(robot.reset(stream(0, "cross")))
    assert act(method.policy(), buffer.window)[0].shape == (1, spec.action_size)
