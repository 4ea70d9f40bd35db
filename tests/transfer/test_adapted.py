import numpy as np
import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.evaluate import Trace
from isthmus.transfer import Config, RunFolder, load_adapted, run_transfer


@pytest.mark.parametrize(("method", "history"), [("inverse", 2), ("residual-action", 2), ("unadapted", 1)])
def test_a_finished_run_gives_the_policy_that_it_came_to(tmp_path, method, history):
    settings = MethodSettings(history=history, fit=FitSettings(epochs=2))
    config = Config(
        "reacher", "tilt=90", method, samples=60, round_samples=30, evaluation_episodes=50, settings=settings
    )
    folder = RunFolder(tmp_path / "run")
    run_transfer(config, folder)
    trace = Trace.load(folder.trace_path("adapted"))
    policy = load_adapted(folder)
    for episode in range(2):
        policy.begin()
        for t in range(int(trace.lengths[episode])):
            command = policy(trace.observations[episode, t])
            expected = policy.spec.clip(trace.commands[episode, t])
            np.testing.assert_allclose(command, expected, rtol=1e-4, atol=1e-5)


def test_a_robot_file_is_not_run_because_a_folder_names_it(tmp_path):
    (tmp_path / "config.json").write_text('{"format": 1, "task": "arm.py"}')
    with pytest.raises(Problem, match=r"give task=load_task\('arm.py'\)"):
        load_adapted(RunFolder(tmp_path))
