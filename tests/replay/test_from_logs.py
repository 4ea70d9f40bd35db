from dataclasses import replace

import mujoco
import numpy as np
import pytest

from isthmus.core import Problem, WorldSpec
from isthmus.logs import RobotLog
from isthmus.replay.episodes import episodes_of
from isthmus.replay.fit import Fitted
from isthmus.replay.from_logs import recordings
from isthmus.replay.identified import identified_model, left_out, spec_with_motors, write_mjcf
from isthmus.replay.parameters import parameters
from isthmus.replay.recording import Recording
from isthmus.replay.rig import make_rig
from isthmus.replay.scales import measure
from isthmus.sim import RobotModel


def log_of(recording, **more):
    names = {"joints": recording.joints, "actuators": recording.actuators}
    time = recording.dt * np.arange(len(recording))
    return RobotLog(
        recording.dt, time=time, position=recording.position, velocity=0 * recording.velocity,
        command=recording.command, command_kind="effort", **names, **more,
    )  # fmt: skip


def test_velocities_are_estimated_anew_and_late_commands_stay_where_they_were_logged(lab):
    one = lab.record(lab.pendulum, recordings=1, seconds=2.0)
    found, notes = recordings([("run", log_of(one, command_delay=0.03))])
    np.testing.assert_allclose(found.velocity, one.velocity)
    np.testing.assert_array_equal(found.command, one.command)
    early, _ = recordings([("run", log_of(one, command_delay=-lab.dt))])
    np.testing.assert_allclose(early.command[:-1], one.command[1:])
    assert notes == ()


def test_a_copy_of_a_recording_is_left_out_and_a_log_without_commands_refused(lab):
    one, other = lab.record(lab.pendulum, recordings=2, seconds=2.0).segments()
    found, notes = recordings([("a", log_of(one)), ("b", log_of(other)), ("c", log_of(one))])
    assert found.motions == ("a", "b")
    assert notes == ("c was left out: it is a recording of the same motion as a",)
    with pytest.raises(Problem, match="a has no commands"):
        recordings([("a", replace(log_of(one), command=None, actuators=()))])


def robot(lab):
    def observe(fields, out):
        out[:, 0], out[:, 1], out[:, 2] = fields["qvel"][:, 0], 2 * fields["qpos"][:, 0], fields["qfrc_bias"][:, 0]

    spec = WorldSpec(("v", "q", "g"), ("drive",), np.array([-0.2]), np.array([0.2]), 0.04, 40, np.arange(2))
    return RobotModel(
        model=lab.model(lab.pendulum), frame_skip=8, spec=spec, reads=("qfrc_bias",), observe=observe,
        restore=lambda *_: None, start=lambda _rng, n: (np.zeros((n, 1)), np.zeros((n, 1))),
    )  # fmt: skip


def test_recordings_become_episodes_at_the_control_period_as_the_task_observes_them(lab):
    recording = lab.record(lab.pendulum, recordings=2, seconds=1.0)
    episodes = episodes_of(recording, robot(lab), lambda history: history.current[:, 1:2])
    assert [len(one) for [one] in episodes] == [24, 24]
    [first], _ = episodes
    rows = np.arange(0, 50, 2)
    np.testing.assert_allclose(first.observations[:, 0], recording.velocity[rows, 0])
    np.testing.assert_allclose(first.observations[:, 1], 2 * recording.position[rows, 0])
    assert np.abs(first.observations[:, 2]).max() > 0.01
    np.testing.assert_allclose(first.commands[3], recording.command[6:8].mean(axis=0))
    np.testing.assert_allclose(first.applied, np.clip(first.commands, -0.2, 0.2))
    np.testing.assert_allclose(first.source, first.observations[:-1, 1:2])


def test_a_control_period_between_samples_or_a_missing_joint_is_refused(lab):
    recording = lab.record(lab.pendulum, recordings=1, seconds=1.0)
    with pytest.raises(Problem, match="no whole number of samples"):
        episodes_of(replace(recording, dt=0.03), robot(lab))
    arm = lab.record(lab.arm, recordings=1, seconds=1.0)
    with pytest.raises(Problem, match="unknown joint 'shoulder'"):
        episodes_of(arm, robot(lab))


def test_the_identified_model_is_written_as_it_is_used(lab, tmp_path):
    recording = lab.record(lab.arm, recordings=1, seconds=1.0)
    rig = make_rig(lab.model(lab.arm), recording.joints, recording.actuators, lab.dt)
    free = parameters(rig, measure(rig, recording))
    z = 0.3 * np.random.default_rng(2).standard_normal(len(free))
    fitted = Fitted(free, z, np.eye(len(free)))
    source, path = tmp_path / "arm.xml", tmp_path / "arm.identified.xml"
    source.write_text(lab.arm)
    write_mjcf(source, path, fitted)
    used, written = identified_model(lab.model(lab.arm), fitted), mujoco.MjModel.from_xml_path(str(path))
    for name in ("body_mass", "body_inertia", "body_ipos", "dof_armature", "dof_frictionloss", "actuator_gainprm"):
        np.testing.assert_allclose(getattr(written, name), getattr(used, name), rtol=1e-4, atol=1e-7, err_msg=name)
    values = fitted.values
    assert written.body("fore").mass[0] == pytest.approx(values["mass of fore"], rel=1e-4)
    assert np.ravel(written.joint("elbow").damping)[0] == pytest.approx(values["damping of elbow"], rel=1e-4)
    assert [one.split(":")[0] for one in left_out(fitted)] == [
        "delay of commands", "zero of the sensor of shoulder", "zero of the sensor of elbow",
    ]  # fmt: skip


def test_a_robot_without_actuators_is_written_with_the_drives_it_was_fitted_with(lab, tmp_path):
    begin, end = lab.arm.index("<actuator>"), lab.arm.index("</actuator>") + len("</actuator>")
    source, path = tmp_path / "arm.xml", tmp_path / "identified.xml"
    source.write_text(lab.arm[:begin] + lab.arm[end:])
    drives = spec_with_motors(source).compile()
    servo = mujoco.mjtBias.mjBIAS_AFFINE.value
    drives.actuator_biastype[:], drives.actuator_gainprm[:, 0], drives.actuator_biasprm[:, 1] = servo, 30.0, -30.0
    rig = make_rig(drives, ("shoulder", "elbow"), ("shoulder", "elbow"), lab.dt)
    rows = np.random.default_rng(0).normal(size=(50, 2))
    free = tuple(parameters(rig, measure(rig, Recording(lab.dt, rig.joints, rig.actuators, rows, rows, rows))))
    fitted = Fitted(free, np.full(len(free), 0.2), np.eye(len(free)))
    write_mjcf(source, path, fitted, drives)
    used, written = identified_model(drives, fitted), mujoco.MjModel.from_xml_path(str(path))
    for name in ("actuator_gainprm", "actuator_biasprm", "dof_frictionloss", "dof_armature", "body_mass"):
        np.testing.assert_allclose(getattr(written, name), getattr(used, name), rtol=1e-4, atol=1e-9)
    assert written.actuator_gainprm[0, 0] != 30.0
    assert written.actuator_biasprm[0, 1] == pytest.approx(-written.actuator_gainprm[0, 0], rel=1e-4)
