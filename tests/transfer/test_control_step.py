import json
import time

import pytest

from isthmus.core import Problem, stream
from isthmus.transfer import Config, RunFolder, run_transfer
from isthmus.transfer.control_step import FEWEST, MOST, WARM, StepTime, time_step


def test_a_control_step_is_timed_for_one_robot_as_it_runs(make_linear_world):
    world, seen = make_linear_world(), []

    def policy(history):
        seen.append(history.current.copy())
        return history.current * 0.1

    took = time_step(policy, 2, world, stream(0, "step"))
    assert 0 < took.p50 <= took.p99 <= took.worst
    assert WARM + FEWEST <= len(seen) == WARM + took.steps <= WARM + MOST
    assert all(one.shape == (1, 2) for one in seen)
    assert len({one.tobytes() for one in seen}) == len(seen)  # it moves on from step to step


def test_time_in_which_the_processor_rests_counts_too(make_linear_world):
    """A robot waits on the wall clock, whatever its command waits for."""

    def policy(history):
        time.sleep(0.005)
        return history.current * 0.1

    assert time_step(policy, 1, make_linear_world(), stream(0, "step")).p50 >= 5000


def test_the_worst_step_is_reported(make_linear_world):
    calls = []

    def policy(history):
        calls.append(0)
        if len(calls) == WARM + 8:
            time.sleep(0.05)
        return history.current * 0.1

    assert time_step(policy, 1, make_linear_world(), stream(0, "step")).worst >= 50_000


def test_a_run_measures_its_control_step_and_traces_are_for_those_who_want_them(tmp_path):
    folder = RunFolder(tmp_path)
    run_transfer(Config("reacher", method="unadapted", evaluation_episodes=50), folder, traces=False)
    took = folder.step_time()
    assert took is not None
    assert {"p50", "p99", "worst", "steps"} <= json.loads(folder.step_path.read_text()).keys()
    assert 0 < took.p50 <= took.p99 <= took.worst
    assert not (tmp_path / "traces").exists()
    assert RunFolder(tmp_path / "nowhere").step_time() is None


def test_the_time_of_an_earlier_run_is_read_and_damage_is_named(tmp_path):
    folder = RunFolder(tmp_path)
    folder.step_path.write_text('{"microseconds": 12.5}')
    assert folder.step_time() == StepTime(12.5)
    assert str(folder.step_time()) == "0.013 ms (median)"
    for damaged in ("{}", '{"microseconds": "soon"}', '{"microseconds": 1, "p99": "x"}'):
        folder.step_path.write_text(damaged)
        with pytest.raises(Problem, match=r"step\.json is not the time"):
            folder.step_time()


def test_only_slow_methods_are_judged_over_few_episodes():
    assert Config("hopper", method="gaussian", evaluation_episodes=2).evaluation_episodes == 2
    for method, fewest in (("residual-action", 16), ("fine-tune", 50)):
        assert Config("hopper", method=method, evaluation_episodes=fewest).evaluation_episodes == fewest
        with pytest.raises(Problem, match=f"evaluation-episodes must be at least {fewest}, got 2"):
            Config("hopper", method=method, evaluation_episodes=2)
