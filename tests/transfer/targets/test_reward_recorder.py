"""Reinforcement learning on the target: the one crossing whose method sees what the steps are paid."""

import dataclasses

import numpy as np
import pytest

from isthmus.core import HistoryBuffer, stream
from isthmus.core.trajectory import RewardedTrajectory
from isthmus.evaluate import evaluate
from isthmus.experts import load_expert
from isthmus.experts.finetuner import FINETUNE, PpoFinetuner
from isthmus.gaps import Gap
from isthmus.io import load_episode, save_episode
from isthmus.robots import load_task
from isthmus.transfer import Config, RunFolder, run_transfer
from isthmus.transfer.targets.target import SimulatedTarget

TINY = Config("reacher", "tilt=90", "rl-on-target", samples=2100, evaluation_episodes=50)
LITTLE = dataclasses.replace(FINETUNE, worlds=4, batch=50, epochs=1)


@pytest.fixture(autouse=True)
def little_practice(monkeypatch):
    monkeypatch.setattr(
        "isthmus.transfer.source.source.finetuner_in",
        lambda task: lambda policy: PpoFinetuner(task, policy, LITTLE, critic_steps=200),
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "isthmus.transfer.source.source.finetuner_in",
            lambda task: lambda policy: PpoFinetuner(task, policy, LITTLE, critic_steps=200),
        )
        return run_transfer(TINY, RunFolder(path)), path


def test_steps_are_paid_what_an_evaluation_counts():
    task, gap = load_task("hopper"), Gap.parse("gravity=1.3")
    expert, payroll = load_expert(task), SimulatedTarget(task, gap, 50).reward_recorder(3)
    told = evaluate(task, task.target(gap, 3), expert, 1, stream(0))
    buffer = HistoryBuffer(payroll.spec, 3, 1)
    buffer.begin(payroll.reset(stream(0)))
    earned, running = np.zeros(3), np.ones(3, bool)
    for _ in range(task.robot_model.spec.horizon):
        step = payroll.step(expert(buffer.window))
        earned += running * payroll._rewards[-1]
        running = ~step.ended
        buffer.append(step.applied, step.observations)
        if not running.any():
            break
    np.testing.assert_allclose(earned, told.returns)


def test_every_step_counts_and_the_result_says_what_was_seen(whole):
    result, path = whole
    episodes = RunFolder(path).episodes()
    assert result.samples == 2100 == sum(one.samples for episode in episodes for one in episode)
    assert [point.samples for point in result.curve] == [0, 1000, 2000, 2100]  # a round is worth a thousand
    assert "THE TARGET'S REWARD" in result.sees
    runs = [one for episode in episodes for one in episode]
    assert all(isinstance(one, RewardedTrajectory) for one in runs)
    assert {len(one) for one in runs} == {50}  # whole episodes, which nobody interrupts
    assert all((one.commands != one.source).all() for one in runs)


def test_an_unpaid_method_gets_no_rewards(tmp_path):
    run_transfer(dataclasses.replace(TINY, method="pd", samples=60), RunFolder(tmp_path))
    assert not [one for e in RunFolder(tmp_path).episodes() for one in e if isinstance(one, RewardedTrajectory)]


def test_a_run_that_was_cut_short_comes_to_the_same_result(whole, tmp_path):
    class Killed(BaseException):
        pass

    def die(event):
        if event.phase == "collect" and event.round_number == 1:
            raise Killed

    with pytest.raises(Killed):
        run_transfer(TINY, RunFolder(tmp_path), watch=die)
    result = run_transfer(TINY, RunFolder(tmp_path), resume=True)
    assert result.curve == whole[0].curve
    for ours, theirs in zip(RunFolder(tmp_path).episodes(), RunFolder(whole[1]).episodes(), strict=True):
        np.testing.assert_array_equal(ours[0].rewards, theirs[0].rewards)


def test_what_was_paid_is_on_disk_as_it_was(tmp_path):
    seen, done = np.zeros((4, 11)), np.zeros((3, 2))
    run = RewardedTrajectory(seen, done, done, done, seen[1:], rewards=np.array([1.0, 2, 3]), ended=True)
    save_episode(tmp_path / "e.npz", [run])
    (back,) = load_episode(tmp_path / "e.npz")
    np.testing.assert_array_equal(back.rewards, run.rewards)
    assert back.ended is True
    with pytest.raises(ValueError, match="rewards has shape"):
        dataclasses.replace(run, rewards=np.ones(2))
