"""Exports in stand-ins of the contracts that load them: order, sign, reset, scaling and clip, as others have them."""

import json
import sys

import numpy as np
import pytest
import torch

from isthmus.actuators import make_engine
from isthmus.actuators.export import export
from isthmus.core import Problem
from isthmus.policies.onnx_runtime import open_session

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")


class LearnedActuator:
    """A history of errors and velocities, a TorchScript network, and the clip of a DC motor.

    Isaac Lab keeps any lags (`input_idx`) and starts with zeros; mjlab keeps `history_length` samples and starts with
    the first one.
    """

    def __init__(self, path, settings, envs, joints, *, fill):
        self.net, self.cfg, self.fill = torch.jit.load(str(path)), settings, fill
        self.lags = settings.get("input_idx") or list(range(settings["history_length"]))
        self.errors = torch.zeros(max(self.lags) + 1, envs, joints)
        self.velocities = torch.zeros_like(self.errors)
        self.fresh = True

    def compute(self, target, position, velocity):
        for ring, values in ((self.errors, target - position), (self.velocities, velocity)):
            if self.fresh and self.fill:
                ring[:] = values
            ring[:] = torch.roll(ring, 1, 0)
            ring[0] = values
        self.fresh = False
        envs, joints = target.shape
        parts = [
            (ring[self.lags] * self.cfg[scale]).permute(1, 2, 0).reshape(envs * joints, -1)
            for ring, scale in ((self.errors, "pos_scale"), (self.velocities, "vel_scale"))
        ]
        assert self.cfg["input_order"] == "pos_vel"
        torque = self.net(torch.cat(parts, dim=1)).reshape(envs, joints) * self.cfg["torque_scale"]
        stall, top_speed, most = (
            torch.tensor(self.cfg[name]) for name in ("saturation_effort", "velocity_limit", "effort_limit")
        )
        top = torch.clip(stall * (1 - velocity / top_speed), min=-most, max=most)
        bottom = torch.clip(stall * (-1 - velocity / top_speed), min=-most, max=most)
        return torch.clip(torque, min=bottom, max=top)


@pytest.mark.parametrize(("to", "section"), [("isaaclab", "ActuatorNetMLPCfg"), ("mjlab", "LearnedMlpActuatorCfg")])
@pytest.mark.parametrize("parts", [("network",), ("pd", "network")])
def test_others_get_the_torques_that_our_engine_gives(make, tmp_path, to, section, parts):
    model = make(*parts, delay=False)
    notes = export(model, to, tmp_path / "net.pt")
    theirs = LearnedActuator(tmp_path / "net.pt", notes[section], 4, 3, fill=to == "mjlab")
    ours, rng = make_engine(model, 4), np.random.default_rng(1)
    if to == "isaaclab":  # its history begins with zeros
        for _ in range(model.depth):
            ours.step(*(np.zeros((4, 3)) for _ in range(3)))
    for _ in range(12):
        given = [rng.normal(0, scale, (4, 3)).astype(np.float32) for scale in (0.6, 0.4, 9.0)]
        found = theirs.compute(*(torch.as_tensor(one) for one in given)).numpy()
        wanted = ours.step(*(one.astype(np.float64) for one in given))
        np.testing.assert_allclose(found, wanted, atol=5e-5)


def test_onnx_gives_the_torques_before_limits(make, tmp_path):
    pytest.importorskip("onnx")
    model = make("network", "pd", delay=False)
    export(model, "onnx", tmp_path / "net.onnx")
    session = open_session((tmp_path / "net.onnx").read_bytes())
    rows = np.random.default_rng(0).normal(0, 0.5, (6, 6)).astype(np.float32)
    found = session.run(None, {"x": rows})[0].reshape(2, 3)
    law, k = model.pd, 3
    given = rows.reshape(2, 3, 6).astype(np.float64)
    drive = np.clip(law.kp * given[..., 0] - law.kd * given[..., k], -law.limit, law.limit)
    rub = (law.coulomb + law.load * np.abs(drive)) * np.tanh(given[..., k] / law.smooth)
    wanted = model.network(given) + drive - rub - law.viscous * given[..., k] + law.bias
    np.testing.assert_allclose(found, wanted, atol=2e-5)


@pytest.mark.parametrize("parts", [("network",), ("pd", "network", "gru")])
@pytest.mark.parametrize("command", ["position", "effort"])
def test_a_header_is_checked_by_compiling_it(make, tmp_path, parts, command):
    notes = export(make(*parts, command=command), "c", tmp_path / "drive.h")
    assert notes["checked_to"] < 1e-5
    assert "actuator_torque" in (tmp_path / "drive.h").read_text()


def test_what_is_beside_an_export_says_how_to_use_it(make, tmp_path):
    export(make("network"), "mjlab", tmp_path / "net.pt")
    notes = json.loads((tmp_path / "net.json").read_text())
    assert notes["dt"] == 0.0025
    assert notes["LearnedMlpActuatorCfg"]["history_length"] == 6
    assert notes["effort_limit"] == [30, 30, 30]
    assert notes["provenance"]["seed"] == 3


@pytest.mark.parametrize(("parts", "complaint"), [(("gru",), "a GRU cannot be exported"), (("pd",), "delayed target")])
def test_models_that_a_contract_cannot_hold_are_refused(make, tmp_path, parts, complaint):
    with pytest.raises(Problem, match=complaint):
        export(make(*parts), "isaaclab", tmp_path / "net.pt")
    assert not list(tmp_path.iterdir())


def test_an_export_that_differs_from_the_model_is_not_left(make, tmp_path, monkeypatch):
    module = sys.modules["isthmus.actuators.export.export"]
    monkeypatch.setattr(module, "exact", lambda _model, given: np.ones(given.shape[:2]))
    with pytest.raises(Problem, match="differs from the model"):
        export(make("network"), "isaaclab", tmp_path / "net.pt")
    assert not list(tmp_path.iterdir())
