"""A master that is restarted in mid-swing: what is connected stays so, and who comes later is found."""

import numpy as np

from isthmus.core import History, stream
from isthmus.hardware.processes import ros_master, stand_in


def test_a_restart_of_the_master_is_survived(address, world_at, fetch):
    policy = fetch.policy
    with ros_master(address):
        robot = stand_in(address, speed=20.0)
        process = robot.__enter__()
        world = world_at(address, patience=2.0)
        seen = [world.reset(stream(0, "reset"))]
        for _ in range(5):
            seen.append(world.step(policy(History.of(seen[-1]))).observations)
    try:
        for _ in range(5):  # there is no master now
            seen.append(world.step(policy(History.of(seen[-1]))).observations)
        with ros_master(address):
            for _ in range(5):
                seen.append(world.step(policy(History.of(seen[-1]))).observations)
            process.kill()
            process.wait()
            with stand_in(address, speed=20.0):
                again = world.reset(stream(0, "reset"))
    finally:
        robot.__exit__(None, None, None)
    assert np.isfinite(np.concatenate(seen)).all()
    assert world.pace.steps == 15
    assert again[0, 14] == 0.0
