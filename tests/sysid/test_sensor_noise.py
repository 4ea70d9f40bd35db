import numpy as np
import pytest

from isthmus.adapt import MethodSettings, make_method
from isthmus.adapt.settings import CollectSettings
from isthmus.core import stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import Unadapted
from isthmus.robots import load_task
from isthmus.sysid.sensor_noise import sensor_noise
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale
from isthmus.transfer.source.source import make_source

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
SOURCE = make_source(TASK, EXPERT, 0)


def recorded(gap, n=20):
    scale = observation_scale(EXPERT, TASK.source(4), 1, stream(0, "scale"))
    course, decider = ReferenceRollout(EXPERT, TASK.source(n), 1, scale), Unadapted(EXPERT, TASK.source(n))
    robot = TASK.robot(Gap.parse(gap).resolve(TASK.robot_model.model), n)
    return collect(robot, decider, course, CollectSettings(), history=1, length=30, budget=600, rng=stream(0, "e"))


@pytest.mark.parametrize("noise", [0.003, 0.01])
@pytest.mark.parametrize("beside", ["", "tilt=45,", "motor-noise=0.1,"])
def test_noise_is_told_whatever_else_is_wrong(noise, beside):
    found = sensor_noise(recorded(f"{beside}sensor-noise={noise}"), SOURCE.unclamped, SOURCE.cost_to_go)
    seen = found[found > 0]
    assert len(seen) >= 4
    np.testing.assert_allclose(seen, noise, rtol=0.4)


@pytest.mark.parametrize(
    "gap", ["none", "tilt=90", "motor-noise=0.5", "motor-noise=0.5,noise-correlation=0.9", "backlash=0.2", "mass=2"]
)
def test_what_pushes_the_robot_is_no_noise_of_sensors(gap):
    assert not sensor_noise(recorded(gap), SOURCE.unclamped, SOURCE.cost_to_go).any()


def test_without_data_there_is_none():
    assert not sensor_noise([], SOURCE.unclamped, SOURCE.cost_to_go).any()


def upset(gap):
    method, episodes = make_method("residual-action", SOURCE, MethodSettings()), recorded(gap)
    method.learn(episodes, 0, None)
    return method.perturbation(episodes)


def test_noise_of_sensors_is_no_disturbance_of_commands():
    of_sensors, of_motors = upset("sensor-noise=0.01"), upset("motor-noise=0.3")
    assert of_sensors.noise.any()
    assert not of_sensors.response.disturbance.std.any()
    assert not of_motors.noise.any()
    assert (of_motors.response.disturbance.std > 0.15).all()
