"""Disguised logs of a planar arm with three joints, and what is found of them."""

from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.experiments.log_maps.disguise import Disguise, disguised
from isthmus.experiments.log_maps.recording import record
from isthmus.logs import Series, apply
from isthmus.logs.assemble import propose
from isthmus.logs.robot_body import body_of
from isthmus.logs.series import make_log

ARM = """
<mujoco>
  <compiler angle="radian"/>
  <default><joint axis="0 1 0" damping="0.1" armature="0.01"/><geom type="capsule" size="0.03"/></default>
  <worldbody>
    <body><joint name="shoulder" range="-2 2"/><geom fromto="0 0 0 0.4 0 0" mass="2"/>
      <body pos="0.4 0 0"><joint name="elbow" range="-2.5 0.5"/><geom fromto="0 0 0 0.3 0 0" mass="1"/>
        <body pos="0.3 0 0"><joint name="wrist" range="-1 1"/><geom fromto="0 0 0 0.1 0 0.02" mass="0.6"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder" gear="30"/><motor joint="elbow" gear="20"/><motor joint="wrist" gear="5"/>
  </actuator>
</mujoco>
"""
ORDER, SIGNS, OFFSETS = np.array([2, 0, 1]), np.array([1.0, -1.0, -1.0]), np.array([0.5, -0.4, 0.3])


@cache
def body():
    return body_of(mujoco.MjModel.from_xml_string(ARM))


@cache
def found(kind, *, degrees, names=False):
    rng = np.random.default_rng(3)
    recording = record(body(), kind, 12.0, rng)
    disguise = Disguise(ORDER, np.array([1, 2, 0]), SIGNS, OFFSETS, degrees, names, velocities=True, gaps=1)
    log = disguised(recording, body(), disguise, rng)
    return recording, log, propose(log, body())


@pytest.mark.parametrize(("kind", "degrees"), [("position", True), ("effort", False)])
def test_order_sign_zero_and_unit_are_found_without_names(kind, degrees):
    recording, log, proposal = found(kind, degrees=degrees)
    joints = proposal.log_map.joints
    assert [joint.position.column for joint in joints] == np.argsort(ORDER).tolist()
    assert [joint.position.sign for joint in joints] == SIGNS.tolist()
    np.testing.assert_allclose([joint.position.offset for joint in joints], OFFSETS, atol=0.09)
    assert [one.unsure for one in proposal.found] == [()] * 3
    assert {one.by for one in proposal.found} == {"motion"}
    mapped = apply(proposal.log_map, log)
    rows = np.searchsorted(recording.time, mapped.time[:50] + 1e-6) - 1
    np.testing.assert_allclose(mapped.position[:50], recording.position[rows], atol=0.08)
    np.testing.assert_allclose(mapped.velocity[:50], recording.velocity[rows], atol=0.15)
    scale = np.abs(recording.command).max(axis=0)
    np.testing.assert_allclose(mapped.command[:50] / scale, recording.command[rows] / scale, atol=0.1)


def test_the_delay_of_efforts_is_found_to_a_fraction_of_a_row():
    recording, _, proposal = found("effort", degrees=False)
    assert recording.delay > 0.002
    assert proposal.log_map.command_delay == pytest.approx(recording.delay + 0.005, abs=0.006)


def test_what_motion_cannot_tell_is_said_and_left_as_it_is():
    model = mujoco.MjModel.from_xml_string(ARM.replace('axis="0 1 0"', 'axis="0 0 1"'))  # gravity along the axes
    flat = body_of(model)
    rng = np.random.default_rng(0)
    recording = record(flat, "position", 10.0, rng)
    disguise = Disguise(np.arange(3), np.arange(3), np.ones(3), OFFSETS, False, True, velocities=False, gaps=0)
    proposal = propose(disguised(recording, flat, disguise, rng), flat)
    first = proposal.found[0]
    assert first.by == "name"
    assert "offset" in first.unsure
    assert proposal.log_map.joints[0].position.offset == 0
    assert first.confidence["offset"] < 0.99


def test_a_log_without_commands_is_mapped_by_order_and_says_so():
    time = np.arange(0, 3, 0.01)
    values = np.sin(time[:, None] * [1, 2, 3])
    log = make_log(Path("log.npz"), "npz", [Series("q", time, values, ("0", "1", "2"))])
    proposal = propose(log, body())
    assert [joint.position.column for joint in proposal.log_map.joints] == [0, 1, 2]
    assert all(set(one.unsure) == {"order", "sign", "offset"} for one in proposal.found)
    assert any("nothing in the log drives" in note for note in proposal.notes)


def test_too_few_columns_and_no_positions_are_one_sentence():
    time = np.arange(0, 3, 0.01)
    series = Series("q", time, np.sin(time[:, None] * [1, 2]), ("0", "1"))
    with pytest.raises(Problem, match="2 columns of positions and the robot has 3 joints"):
        propose(make_log(Path("log.npz"), "npz", [series]), body())
    other = Series("weather", time, np.sin(time[:, None]), ("0",))
    with pytest.raises(Problem, match="--position SERIES"):
        propose(make_log(Path("log.npz"), "npz", [other]), body())


def test_a_log_that_the_model_does_not_explain_keeps_its_order_signs_and_zeros():
    rng = np.random.default_rng(0)
    time = np.arange(0, 6, 0.01)
    values = np.sin(time[:, None] * [1, 2, 3])
    series = [
        Series("joint_pos", time, values, ("0", "1", "2")),
        Series("torque_command", time, rng.normal(size=values.shape), ("0", "1", "2")),
    ]
    proposal = propose(make_log(Path("log.npz"), "npz", series), body())
    places = [(joint.position.column, joint.position.sign, joint.position.offset) for joint in proposal.log_map.joints]
    assert places == [(0, 1, 0.0), (1, 1, 0.0), (2, 1, 0.0)]
    assert all(set(one.unsure) >= {"order", "sign", "offset"} for one in proposal.found)
    assert any("explains little" in note for note in proposal.notes)
