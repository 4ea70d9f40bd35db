"""Whatever an environment does, it is held, and the run ends with one sentence."""

import threading
import time
from contextlib import closing
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from isthmus.core import Lost, Problem, WorldSpec, stream
from isthmus.hardware import SafetySettings, Stop
from isthmus.hardware.oversight import Oversight
from isthmus.sim.environment import Environment
from isthmus.sim.gymnasium_world import GymnasiumWorld, open_environment

SPEC = WorldSpec(
    observation_names=("angle", "speed"),
    action_names=("motor",),
    action_low=np.array([-1.0]),
    action_high=np.array([1.0]),
    control_period=0.02,
    horizon=10,
    targets=np.arange(2),
)
CALM = SafetySettings(overrun=100.0, patience=10.0)
"""The machine that tests run on may be busy."""
SWIFT = SafetySettings(overrun=0.3, patience=0.3, blocked=0.3)
GOOD = (np.zeros(2), 0.0, False, False, {})
ABSURD = np.array([0.0, 1e300])


def raises(_action):
    raise RuntimeError("the motor is\nhot")


def leaves(_action):
    raise SystemExit(3)


class Fake(gymnasium.Env):
    """Does what it is told to, and remembers what it was asked."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gymnasium.spaces.Box(-0.5, 2.0, (1,), dtype=np.float64)

    def __init__(self, step=lambda _action: GOOD, reset=lambda: (np.zeros(2), {})):
        self.on_step, self.on_reset = step, reset
        self.actions, self.held, self.closed = [], 0, 0

    def reset(self, **_):
        return self.on_reset()

    def step(self, action):
        self.actions.append(float(action[0]))
        return self.on_step(action)

    def hold(self):
        self.held += 1

    def close(self):
        self.closed += 1


def world_of(env, stop=None, abandon=None, safety=CALM, **beside):
    stop = stop or Stop()
    oversight = Oversight(stop, safety.patience, abandon)
    environment = Environment(env, hold=getattr(env, "hold", None), **beside)
    return GymnasiumWorld(environment, SPEC, safety=safety, stop=stop, oversight=oversight)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (raises, r"step\(\) of the environment raised RuntimeError: the motor is \(test_environment_faults.py, line"),
        (leaves, r"step\(\) of the environment raised SystemExit: 3"),
        (
            lambda _: (np.array([0, np.nan]), 0.0, False, False, {}),
            "cannot be true: it is not finite",
        ),
        (lambda _: (ABSURD, 0.0, False, False, {}), r"cannot be true: speed is 1e\+300"),
        (lambda _: (np.zeros(3), 0.0, False, False, {}), r"observes \(3,\) numbers, but the task 2"),
        (lambda _: ({"a": 1}, 0.0, False, False, {}), "observes dict, which is no array of numbers"),
        (lambda _: (np.zeros(2), np.nan, False, False, {}), "reward of the environment is nan"),
        (lambda _: (np.zeros(2), None, False, False, {}), "reward of the environment is None"),
        (lambda _: (np.zeros(2), 0.0, False, {}), "has to return 5 values"),
        (lambda _: None, "has to return 5 values"),
    ],
)
def test_a_step_that_goes_wrong_ends_in_a_hold(step, message):
    env = Fake(step)
    with closing(world_of(env)) as world:
        world.reset(stream(0))
        with pytest.raises(Problem, match=message) as problem:
            world.step(np.zeros((1, 1)))
        assert not isinstance(problem.value, Lost)
        assert str(problem.value).endswith(
            "it was held; what was collected is kept, and the same command with --resume goes on"
        )
        assert "\n" not in str(problem.value)
        assert env.held == 1
        world.step(np.ones((1, 1)))
        assert len(env.actions) == 1, "nothing is commanded after a fault"
    assert env.closed == 1


@pytest.mark.parametrize(
    ("reset", "message"),
    [
        (lambda: raises(None), r"reset\(\) of the environment raised RuntimeError"),
        (lambda: (ABSURD, {}), "cannot be true"),
        (lambda: np.zeros(2), "has to return 2 values"),
    ],
)
def test_a_reset_that_goes_wrong_ends_in_a_hold(reset, message):
    env = Fake(reset=reset)
    with closing(world_of(env)) as world, pytest.raises(Problem, match=message):
        world.reset(stream(0))
    assert env.held
    assert env.closed == 1


def test_an_environment_that_cannot_be_held_is_closed():
    class Bare(Fake):
        hold = None

    env = Bare(raises)
    world = world_of(env)
    world.reset(stream(0))
    with pytest.raises(Problem, match=r"raised RuntimeError: the motor is \([^)]*\); what was collected"):
        world.step(np.zeros((1, 1)))
    assert world.close() == ""
    assert env.closed == 1


def test_a_hold_that_raises_is_told():
    class Stuck(Fake):
        def hold(self):
            raise OSError("no brake")

    env = Stuck(raises)
    world = world_of(env)
    world.reset(stream(0))
    with pytest.raises(Problem, match=r"the motor is .*; its hold\(\) raised OSError: no brake; what was collected"):
        world.step(np.zeros((1, 1)))
    world.close()
    assert env.closed == 1


def test_a_hold_that_does_not_return_is_not_waited_for():
    class Stuck(Fake):
        def hold(self):
            time.sleep(60)

    world = world_of(Stuck(raises), safety=SWIFT)
    world.reset(stream(0))
    with pytest.raises(Problem, match=r"its hold\(\) has not returned after 0\.3 s"):
        world.step(np.zeros((1, 1)))
    world.close()


def test_what_goes_wrong_in_closing_is_told_and_it_is_closed_once():
    class Sticky(Fake):
        def close(self):
            super().close()
            raise OSError("no socket")

    env = Sticky()
    world = world_of(env)
    assert world.close() == "its close() raised OSError: no socket"
    world.close()
    assert env.closed == 1
    assert env.held == 1


def begun(world):
    world.reset(stream(0))
    return world


@pytest.mark.parametrize("where", ["step", "reset"])
def test_code_that_blocks_for_ever_is_held_and_interrupted(where):
    blocked = {where: lambda *_: time.sleep(60)}
    env, stop = Fake(**blocked), Stop()
    with closing(world_of(env, stop, safety=SWIFT)) as world, pytest.raises(KeyboardInterrupt):
        begun(world).step(np.zeros((1, 1)))
    assert f"{where}() has not returned after" in stop.why
    assert env.held
    assert env.closed == 1


def test_code_that_cannot_be_interrupted_is_closed_and_abandoned():
    def deaf(_action):
        end = time.monotonic() + 3
        while time.monotonic() < end and not told:
            try:
                time.sleep(0.05)
            except KeyboardInterrupt:
                continue
        return GOOD

    told = []
    env = Fake(deaf)
    world = world_of(env, abandon=told.append, safety=SWIFT)
    world.reset(stream(0))
    with pytest.raises(Problem):
        world.step(np.zeros((1, 1)))
    assert told == ["step() has not returned after 0.32 s; step() cannot be interrupted"]
    world.close()
    assert env.held
    assert env.closed == 1


def test_a_slow_step_cuts_the_episode_short_and_the_next_one_goes_on():
    slow = [0.6, 0.0, 0.0]

    def step(_action):
        time.sleep(slow.pop(0))
        return GOOD

    env = Fake(step)
    with closing(world_of(env, safety=SWIFT)) as world:
        world.reset(stream(0))
        with pytest.raises(Lost, match=r"step\(\) has not returned after 0.32 s, and the environment was held"):
            world.step(np.zeros((1, 1)))
        assert env.held == 1
        world.reset(stream(0))
        assert not world.step(np.zeros((1, 1))).ended[0]


def test_a_robot_that_gets_no_command_is_held():
    env = Fake()
    with closing(world_of(env, safety=SWIFT)) as world:
        world.reset(stream(0))
        world.step(np.zeros((1, 1)))
        until(lambda: env.held)
        with pytest.raises(Lost, match=r"no command came for 0\.32 s"):
            world.step(np.zeros((1, 1)))


def test_a_simulation_is_given_time():
    """It has nothing to be held by: neither a slow step nor a slow policy matters."""

    class Simulation(Fake):
        hold = None

    patient = SafetySettings(overrun=0.05, patience=0.05)
    with closing(world_of(Simulation(lambda _: time.sleep(0.4) or GOOD), safety=patient)) as world:
        world.reset(stream(0))
        world.step(np.zeros((1, 1)))
        time.sleep(0.4)
        assert not world.step(np.zeros((1, 1))).ended[0]


def until(happened, seconds=30.0):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("moment", ["in a step", "between steps"])
def test_a_stop_holds_at_once_and_nothing_is_commanded_after_it(moment):
    stop, asked, held = Stop(), [], []

    class Robot(Fake):
        def hold(self):
            held.append(time.monotonic())

    def press():
        asked.append(time.monotonic())
        stop.ask("stop key")

    def step(_action):
        if moment == "in a step":
            press()
            time.sleep(0.03)
        return GOOD

    env = Robot(step)
    with closing(world_of(env, stop)) as world:
        world.reset(stream(0))

        def go_on():
            world.step(np.zeros((1, 1)))
            press()
            time.sleep(30)  # it is interrupted

        with pytest.raises((Problem, KeyboardInterrupt)):
            go_on()
        until(lambda: held)
        assert held[0] - asked[0] < 5.0
        with pytest.raises(Problem, match=r"stopped \(stop key\), and it was held"):
            world.reset(stream(0))
        assert len(env.actions) == 1


def test_commands_keep_to_the_task_the_action_space_and_the_file_at_once():
    env = Fake()
    limits = {"low": -0.3, "high": [1.5], "step": 0.2}
    commands = (5.0, 5.0, 5.0, 5.0, 5.0, 5.0, -5.0, 0.9)
    with closing(world_of(env, limits=limits)) as world:
        world.reset(stream(0))
        sent = [world.step(np.full((1, 1), command)).applied[0, 0] for command in commands]
    np.testing.assert_allclose(sent, [0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 0.8, 0.9])
    assert sent == env.actions


def test_observations_keep_to_what_the_file_declares():
    env = Fake(lambda _: (np.array([0.0, 7.0]), 0.0, False, False, {}))
    with closing(world_of(env, limits={"observation_high": [9, 6.5]})) as world:
        world.reset(stream(0))
        with pytest.raises(Problem, match="cannot be true: speed is 7"):
            world.step(np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"hihg": 1}, "unknown limit in the environment: 'hihg'.*did you mean 'high'"),
        ({"low": 1.5}, "no command of motor is within"),
        ({"high": [1, 2]}, "'high' of the environment needs a number, or 1 of them"),
        ({"step": 0}, "'step' of the environment cannot be 0"),
        ({"low": "few"}, "needs a number"),
        ({"lead": 1}, "does not observe where its actuators are"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits, message):
    with pytest.raises(Problem, match=message):
        world_of(Fake(), limits=limits)


POSITIONS = WorldSpec(
    observation_names=("joint", "joint velocity"),
    action_names=("joint",),
    action_low=np.array([-2.0]),
    action_high=np.array([2.0]),
    control_period=0.1,
    horizon=10,
    targets=np.arange(2),
    commands="position",
)


@pytest.mark.parametrize(("pull", "furthest"), [(9.0, [1.2, 1.3, *[1.4] * 5]), (1.35, [1.135] * 7)])
def test_position_commands_keep_to_the_joints_speed_and_to_where_it_is(pull, furthest):
    where = [np.array([1.0, 0.0])]
    env = Fake(lambda _: (where[-1], 0.0, False, False, {}), lambda: (where[0], {}))
    env.action_space = gymnasium.spaces.Box(-2, 2, (1,), dtype=np.float64)
    world = GymnasiumWorld(
        Environment(env, hold=env.hold), POSITIONS, speeds=np.array([1.0]), safety=replace(CALM, step=1.0, pull=pull)
    )
    with closing(world):
        world.reset(stream(0))
        for _ in range(8):
            world.step(np.full((1, 1), 2.0))
        np.testing.assert_allclose(env.actions, [1.1, *furthest])
        where.append(np.array([-1.0, 0.0]))
        with pytest.raises(Problem, match=r"joint 0 reads -1 after 1, further than the .* can have moved"):
            world.step(np.full((1, 1), 2.0))


def test_an_environment_is_closed_when_it_does_not_fit(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import gymnasium, pathlib\n"
        "class Mine(gymnasium.Env):\n"
        "    action_space = gymnasium.spaces.Discrete(2)\n"
        f"    def close(self): pathlib.Path({str(tmp_path / 'closed')!r}).write_text('x')\n"
        "def make_env(): return Mine()\n"
    )
    before = threading.active_count()
    with pytest.raises(Problem, match="1 actuators"):
        open_environment(str(file), SPEC)
    assert (tmp_path / "closed").read_text() == "x"
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 / 0", r"mine.py cannot be run: ZeroDivisionError: division by zero \(mine.py, line 1\)"),
        (
            "def make_env():\n    raise OSError('no robot')",
            r"make_env\(\) of .*raised OSError: no robot \(mine.py, line 2",
        ),
        ("def make_env():\n    raise SystemExit", r"raised SystemExit \(mine.py, line 2\)"),
        ("def hold(history): pass", "hold in .* has to be a function that needs no arguments"),
        ("observe = 3", "observe in .* has to be a function"),
        ("limits = 3", "limits in .* has to be a dictionary"),
    ],
)
def test_a_file_that_goes_wrong_is_named_with_the_line(tmp_path, content, message):
    file = tmp_path / "mine.py"
    file.write_text(content)
    with pytest.raises(Problem, match=message):
        open_environment(str(file), SPEC)
