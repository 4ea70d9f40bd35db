from dataclasses import replace

import mujoco
import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.replay.errors import errors, foretellable, hold, judged
from isthmus.replay.explain import predictor
from isthmus.replay.fit import fit, lessons
from isthmus.replay.parameters import of_families, parameters
from isthmus.replay.recording import Recording, joined
from isthmus.replay.rig import make_rig
from isthmus.replay.scales import measure
from isthmus.replay.simulate import replay
from isthmus.replay.smooth import smoothed
from isthmus.replay.split import split
from isthmus.replay.windows import windows


def rig_of(lab, text, recording):
    return make_rig(lab.model(text), recording.joints, recording.actuators, recording.dt)


def test_a_recording_of_the_model_itself_is_replayed_as_it_was(lab):
    recording = lab.record(lab.arm, noise=0.0, recordings=1, seconds=2.0)
    where = windows(recording, 1.0)
    seen = replay(rig_of(lab, lab.arm, recording), recording, where)
    off = seen.position[0] - where.of(recording.position)
    assert np.sqrt(np.mean(off**2)) < 0.01 * np.sqrt(
        np.mean((hold(recording, where) - where.of(recording.position)) ** 2)
    )
    assert (seen.position[0, :, 0] == recording.position[where.first]).all()


def test_sets_of_parameters_side_by_side_are_what_each_is_alone(lab, rubbing_arm):
    rig = rig_of(lab, lab.arm, rubbing_arm)
    free = of_families(
        parameters(rig, measure(rig, rubbing_arm)), ("delay", "friction", "inertia", "gravity", "offset")
    )
    z = 0.3 * np.random.default_rng(1).standard_normal((3, len(free)))
    where = windows(rubbing_arm, 0.5).thinned(4)
    together = replay(rig, rubbing_arm, where, free, z).position
    for row in range(3):
        alone = replay(rig, rubbing_arm, where, free, z[row : row + 1]).position[0]
        np.testing.assert_allclose(together[row], alone, atol=1e-12)
    assert np.abs(together[0] - together[1]).max() > 1e-3


def test_a_late_command_and_friction_are_found_away_from_their_starts(lab, rubbing_arm):
    rig = rig_of(lab, lab.arm, rubbing_arm)
    known = of_families(parameters(rig, measure(rig, rubbing_arm)), ("delay", "friction"))
    found = fit(rig, rubbing_arm, known, lessons(rig, rubbing_arm)[-1:])[-1]
    values = found.values
    assert values["delay of commands"] == pytest.approx(0.015, abs=0.0015)
    assert values["dry friction of shoulder"] == pytest.approx(0.08, rel=0.08)
    assert values["dry friction of elbow"] == pytest.approx(0.05, rel=0.08)
    assert values["damping of shoulder"] == pytest.approx(0.05, abs=0.01)
    assert (found.determined > 0.9).all()


def test_what_a_recording_says_nothing_about_stays_as_the_model_has_it(lab):
    still = lab.record(lab.pendulum, size=0.0, recordings=1, seconds=2.0, noise=0.0)
    still = replace(still, position=np.zeros_like(still.position), velocity=np.zeros_like(still.velocity))
    rig = rig_of(lab, lab.pendulum, still)
    free = of_families(parameters(rig, measure(rig, still)), ("delay", "motor"))
    found = fit(rig, still, free, lessons(rig, still)[:1])[-1]
    assert found.determined.max() < 0.05
    np.testing.assert_allclose(found.z, 0, atol=1e-6)


def test_a_pendulum_that_balances_cannot_be_foretold_and_one_that_hangs_can(lab):
    rows = np.zeros((100, 1))
    hanging = Recording(lab.dt, ("swing",), ("drive",), 0.1 * np.sin(0.5 * np.arange(100))[:, None], rows, rows)
    rig = rig_of(lab, lab.pendulum, hanging)
    where = windows(hanging, 1.0)
    assert foretellable(rig, hanging, where).all()
    up = replace(hanging, position=np.full((100, 1), np.pi) + 1e-3 * np.random.default_rng(0).standard_normal((100, 1)))
    assert not foretellable(rig, up, where).any()


def test_joints_that_were_not_recorded_are_held(lab):
    arm = lab.record(lab.arm, recordings=1, seconds=2.0, size=0.1)
    upper = Recording(lab.dt, ("shoulder",), ("lift",), arm.position[:, :1], arm.velocity[:, :1], arm.command[:, :1])
    rig = make_rig(lab.model(lab.arm), upper.joints, upper.actuators, lab.dt)
    assert rig.held == ("elbow",)
    data = mujoco.MjData(rig.model)
    data.qpos[0], data.ctrl[0] = 0.4, 1.0
    for _ in range(200):
        mujoco.mj_step(rig.model, data)
    assert abs(data.qpos[1]) < 1e-6 < abs(data.qpos[0] - 0.4)


def test_the_first_rows_of_replays_do_not_count_as_error(lab, rubbing_arm):
    where = judged(rubbing_arm, lab.dt)
    found = errors(hold, rubbing_arm, where)
    steps = np.diff(rubbing_arm.position, axis=0)[where.first]
    np.testing.assert_allclose(found.joints, np.sqrt(np.mean(steps**2, axis=0)))
    assert errors(predictor(rig_of(lab, lab.arm, rubbing_arm)), rubbing_arm, where).rms < 0.1 * found.rms


def test_smoothing_finds_positions_and_velocities_of_a_cubic(lab):
    time = lab.dt * np.arange(40)[:, None]
    position, velocity = smoothed(1 + 0.5 * time - 2 * time**2 + 3 * time**3, lab.dt)
    np.testing.assert_allclose(velocity, 0.5 - 4 * time + 9 * time**2, atol=1e-9)
    np.testing.assert_allclose(position[7], 1 + 0.5 * time[7] - 2 * time[7] ** 2 + 3 * time[7] ** 3)


def test_recordings_are_held_out_as_a_whole_and_few_are_cut_into_blocks(lab):
    several = lab.record(lab.pendulum, recordings=8, seconds=1.0)
    parts = split(several, 3)
    names = [set(getattr(parts, one).motions) for one in ("train", "validation", "test")]
    assert [len(one) for one in names] == [3, 2, 3]
    assert len(set.union(*names)) == 8
    one = lab.record(lab.pendulum, recordings=1, seconds=10.0)
    blocks = split(one)
    assert [len(getattr(blocks, part).motions) for part in ("train", "validation", "test")] == [3, 1, 1]
    assert len(blocks.train) + len(blocks.validation) + len(blocks.test) == len(one)
    with pytest.raises(Problem, match="5 are needed: record more"):
        split(lab.record(lab.pendulum, recordings=1, seconds=3.0))
    with pytest.raises(Problem, match="1 to 6 can be fitted to"):
        split(several, 7)


def test_recordings_that_do_not_belong_together_are_refused(lab):
    one, other = lab.record(lab.pendulum, recordings=1), lab.record(lab.arm, recordings=1)
    with pytest.raises(Problem, match="different joints"):
        joined([one, other])
    with pytest.raises(Problem, match="different rates cannot be joined: 25 Hz after 50 Hz"):
        joined([one, replace(one, dt=0.04)])
    with pytest.raises(Problem, match="unknown joint 'wrist'"):
        make_rig(lab.model(lab.arm), ("wrist",), ("lift",), lab.dt)
