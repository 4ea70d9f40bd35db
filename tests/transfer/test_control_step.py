from isthmus.core import stream
from isthmus.transfer.control_step import FEWEST, MOST, WARM, step_microseconds


def test_a_control_step_is_timed_for_one_robot_as_it_runs(make_linear_world):
    world, seen = make_linear_world(), []

    def policy(history):
        seen.append(history.current.copy())
        return history.current * 0.1

    assert step_microseconds(policy, 2, world, stream(0, "step")) > 0
    assert WARM + FEWEST <= len(seen) <= WARM + MOST
    assert all(one.shape == (1, 2) for one in seen)
    assert len({one.tobytes() for one in seen}) == len(seen)  # it moves on from step to step
