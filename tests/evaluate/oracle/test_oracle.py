import json
from dataclasses import replace

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import History, Problem, act, rollout, stream
from isthmus.core.metric import Metric
from isthmus.evaluate.oracle import METRICS, OraclePolicy, make_metric, oracle_score
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.sim.anatomy import unactuated_targets
from isthmus.sysid.open_target import UnclampedTarget

REACHER, HOPPER = load_task("reacher"), load_task("hopper")


def oracle(task, gap, metric="even"):
    expert, model = load_expert(task), task.robot_model.model
    target = UnclampedTarget.of(task.robot_model, Gap.parse(gap).apply(model))
    return OraclePolicy(expert, task.source(), target, make_metric(metric, task, expert, stream(0)))


@pytest.mark.parametrize("metric", METRICS)
def test_where_there_is_no_gap_the_oracle_does_what_the_expert_does(metric):
    expert, world = load_expert(HOPPER), HOPPER.source(4)
    observations, best = world.reset(stream(1)), oracle(HOPPER, "none", metric)
    for _ in range(30):
        history = History.of(observations)
        np.testing.assert_array_equal(act(best, history)[0], expert(history))
        observations = world.step(expert(history)).observations


@pytest.mark.parametrize("gap", ["none", "tilt=90"])
def test_an_arm_with_all_joints_driven_can_do_all_the_expert_does(gap):
    found = oracle_score(REACHER, Gap.parse(gap), load_expert(REACHER), "even", episodes=10, seed=0)
    assert found.normalised == pytest.approx(1.0, abs=0.01)
    assert found.out_of_reach < 0.02
    assert (found.normalised_unadapted < 0.9) == (gap != "none")


def test_a_leg_cannot_fly_and_says_what_it_missed():
    world, best = HOPPER.source(4), oracle(HOPPER, "gravity=1.2")
    names = [HOPPER.robot_model.spec.observation_names[i] for i in best.metric.targets]
    observations, worst = world.reset(stream(1)), set()
    for _ in range(10):
        decision, _ = best.decide(History.of(observations), {})
        observations = world.step(decision.command).observations
        worst.add(names[int(np.abs(decision.missed).max(axis=0).argmax())])
    assert "rootz velocity" in worst


def test_a_weak_motor_is_at_its_limit_and_the_search_stays_within_it():
    best = oracle(REACHER, "torque-limit=0.05")
    np.testing.assert_allclose(best.target.high, 0.05 * REACHER.robot_model.spec.action_high)
    best = replace(best, policy=lambda history: np.full((len(history.current), 2), 0.9))
    decision, _ = best.decide(History.of(REACHER.source(3).reset(stream(2))), {})
    given = np.clip(decision.command, best.target.low, best.target.high)
    np.testing.assert_allclose(given, np.tile(best.target.high, (3, 1)))
    assert decision.limited.all()
    assert (np.abs(decision.missed).max(axis=1) > 0.1).all()


def test_the_oracle_corrects_a_policy_that_commands_beyond_the_limit():
    best = replace(
        oracle(REACHER, "torque-scale=2"), policy=lambda history: np.tile([2.5, -3.0], (len(history.current), 1))
    )
    decision, _ = best.decide(History.of(REACHER.source(3).reset(stream(2))), {})
    np.testing.assert_allclose(decision.command, np.tile([0.5, -0.5], (3, 1)), atol=0.02)


def test_what_the_source_commands_beyond_the_limit_is_kept():
    best = replace(oracle(REACHER, "none"), policy=lambda history: np.full((len(history.current), 2), 1.7))
    history = History.of(REACHER.source(3).reset(stream(2)))
    np.testing.assert_array_equal(act(best, history)[0], np.full((3, 2), 1.7))


def test_the_command_that_is_found_is_better_than_its_neighbours():
    best, rng = oracle(HOPPER, "gravity=1.3"), stream(3)
    world = HOPPER.target(Gap.parse("gravity=1.3"), 6)
    observations = world.reset(rng)
    *_, last = rollout(world, best, observations, steps=20)
    history = History.of(last.after)
    decision, _ = best.decide(history, {})
    spec, target = HOPPER.robot_model.spec, best.target

    def error(commands):
        reached = target.simulator.predict(history, np.clip(commands, target.low, target.high))
        return np.square(best.metric.weigh(decision.wanted - reached)).sum(axis=1)

    least = error(decision.command)
    for _ in range(20):
        other = spec.clip(decision.command) + 0.05 * rng.standard_normal(decision.command.shape)
        assert (least <= error(other) * 1.02 + 1e-9).all()


def test_the_root_is_what_no_actuator_moves():
    def names(task):
        spec = task.robot_model.spec
        return {
            spec.observation_names[i]
            for i, one in zip(spec.targets, unactuated_targets(task.robot_model), strict=True)
            if one
        }

    assert names(HOPPER) == {"rootz", "rooty", "rootx velocity", "rootz velocity", "rooty velocity"}
    assert names(REACHER) == {"target x", "target y"}
    root = make_metric("root", HOPPER, load_expert(HOPPER), stream(0))
    weighed = root.weigh(np.eye(12)[1] * 3), Metric.even(root.targets, root.scale).weigh(np.eye(12)[1] * 3)
    np.testing.assert_allclose(weighed[0], 5 * weighed[1])


def test_it_is_labelled_an_oracle(capsys):
    options = ["analyse", "oracle", "reacher", "--gap", "tilt=45", "--episodes", "4"]
    main(options)
    printed = capsys.readouterr().out
    assert "oracle (looks into the target)" in printed
    assert "wanted state out of reach: 0%" in printed
    main([*options, "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["oracle"] is True
    assert figures["normalised"] > figures["normalised_unadapted"]
    assert set(figures["missed"]) == set(REACHER.robot_model.spec.observation_names)


def test_a_policy_that_does_nothing_has_no_ceiling():
    with pytest.raises(Problem, match="no better than doing nothing"):
        oracle_score(REACHER, Gap(), ZeroPolicy(2), "even", episodes=2, seed=0)
