import dataclasses
import pickle

import numpy as np
import pytest

from isthmus.core import History, Problem, act
from isthmus.experts import load_expert
from isthmus.policies import NetworkPolicy
from isthmus.robots import load_task
from isthmus.transfer import Config, PolicyFile, source_policy


@pytest.fixture
def file(tmp_path):
    (tmp_path / "policy.onnx").write_bytes(b"content")
    return PolicyFile(str(tmp_path / "policy.onnx"))


def test_trust_is_of_the_command_and_not_written_down(file):
    trusted = file.trusted()
    assert trusted.options["trust"] is True
    assert file.options["trust"] is False
    assert pickle.loads(pickle.dumps(trusted)).options == trusted.options  # a worker trusts what the study does
    ours, theirs = (Config("reacher", policy=one).to_json() for one in (file, trusted))
    assert ours == theirs
    assert trusted == file


def test_a_run_that_says_it_is_to_be_trusted_is_not(file):
    with pytest.raises(TypeError):
        PolicyFile(**dataclasses.asdict(file), trust=True)
    with pytest.raises(TypeError):
        PolicyFile(**dataclasses.asdict(file), _trusted=True)


def test_a_robots_own_policy_that_gives_nan_ends_in_one_sentence(reacher):
    broken = dataclasses.replace(reacher, policy=lambda history: np.full((len(history.current), 2), np.nan))
    policy = source_policy(broken, None)
    with pytest.raises(Problem, match=r"the policy gave the action \(nan, nan\)"):
        act(policy, History.of(np.zeros((1, 11))))


def test_a_network_stays_one_that_can_be_trained_on():
    task = load_task("reacher")
    assert isinstance(source_policy(dataclasses.replace(task, policy=load_expert(task)), None), NetworkPolicy)
