"""A bundle of a policy with an observation spec shows it the same terms, and remembers its last action."""

from dataclasses import replace

import numpy as np

from isthmus.deploy import load_policy
from isthmus.deploy.export import export_bundle
from isthmus.policies import NetworkPolicy
from isthmus.policies.observation import SpecPolicy, parse_spec
from isthmus.policies.view import whole
from isthmus.tasks.policy_body import policy_body

from .conftest import commands_of, course, finished, network

SPEC = {"terms": ["joint_vel", "last_action"], "term": {"joint_vel": {"scale": 0.05}}, "stack": {"frames": 2}}


def test_a_bundle_carries_the_spec(tmp_path):
    run = finished("reacher", "unadapted")
    policy = SpecPolicy(parse_spec(SPEC), policy_body(run.task.robot_model), NetworkPolicy(network(8, 2, 6), whole))
    run = replace(run, source=replace(run.source, policy=policy), policy=policy)
    manifest = export_bundle(run, tmp_path / "bundle")
    assert "last_action" in manifest.policy.observation_spec
    assert manifest.world.terms == ("joint_vel", "last_action")
    observations, applied = course(run, steps=8)
    loaded = load_policy(tmp_path / "bundle")
    loaded.reset()
    followed = [loaded.act(seen, applied[row - 1]) for row, seen in enumerate(observations)]
    np.testing.assert_allclose(followed, commands_of(run, observations, applied), rtol=0, atol=1e-9)
