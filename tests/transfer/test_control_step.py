import pytest

from isthmus.core import Problem, stream
from isthmus.transfer import Config, RunFolder, cross
from isthmus.transfer.control_step import FEWEST, MOST, WARM, step_microseconds


def test_a_control_step_is_timed_for_one_robot_as_it_runs(make_linear_world):
    world, seen = make_linear_world(), []

    def policy(history):
        seen.append(history.current.copy())
        return history.current * 0.1

    assert step_microseconds(policy, 2, world, stream(0, "step")) > 0
    assert WARM + FEWEST <= len(seen) <= WARM + MOST
    assert all(one.shape == (1, 2) for one in seen)
    assert len({one.tobytes() for one in seen}) == len(seen)  # it moves on from step to step


def test_a_run_measures_its_control_step_and_traces_are_for_those_who_want_them(tmp_path):
    folder = RunFolder(tmp_path)
    cross(Config("reacher", method="unadapted", evaluation_episodes=50), folder, traces=False)
    took = folder.step_microseconds()
    assert took is not None
    assert took > 0
    assert not (tmp_path / "traces").exists()
    assert RunFolder(tmp_path / "nowhere").step_microseconds() is None


def test_only_slow_methods_are_judged_over_few_episodes():
    assert Config("hopper", method="gaussian", evaluation_episodes=2).evaluation_episodes == 2
    for method, fewest in (("explained", 16), ("grounded", 50)):
        assert Config("hopper", method=method, evaluation_episodes=fewest).evaluation_episodes == fewest
        with pytest.raises(Problem, match=f"evaluation-episodes must be at least {fewest}, got 2"):
            Config("hopper", method=method, evaluation_episodes=2)
