import mujoco
import numpy as np
import pytest

from isthmus.actuators import ActuatorLog, make_engine
from isthmus.actuators.fit.by_replay import KINDS, fit_by_replay, values_of
from isthmus.actuators.fit.laws import fit_pd, ideal_pd
from isthmus.actuators.fit.networks import NetworkSettings, fit_linear, fit_mlp
from isthmus.actuators.fit.split import split
from isthmus.actuators.fit.study import QUICK, study
from isthmus.actuators.plant import Plant, check_order, load_plant, plant_of
from isthmus.actuators.predict import predicted, rmse
from isthmus.actuators.replay import thinned, windows
from isthmus.core import Problem

DT = 0.005


def arm() -> Plant:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    link = spec.worldbody.add_body(name="link")
    hinge = link.add_joint(name="hinge", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0))
    hinge.range, hinge.limited = (-2.0, 2.0), 1
    link.mass, link.ipos, link.inertia, link.explicitinertial = 0.6, np.array((0, 0, -0.2)), np.full(3, 0.005), True
    return plant_of(spec, ("hinge",))


TRUE = {"kp": 11.0, "kd": 0.4, "delay": 0.006, "friction": 0.12, "damping": 0.05, "armature": 0.01, "bias": 0.0,
        "limit": 3.5, "load": 0.05}  # fmt: skip


def recorded(seconds=24.0, seed=0) -> ActuatorLog:
    """A hidden drive on the arm: its torques, and what the arm does."""
    plant = arm()
    model, rng = plant.model, np.random.default_rng(seed)
    model.opt.timestep = DT / 4
    model.dof_armature[:], model.dof_damping[:], model.dof_frictionloss[:] = (
        TRUE["armature"],
        TRUE["damping"],
        TRUE["friction"],
    )
    mujoco.mj_setConst(model, mujoco.MjData(model))
    data, time = mujoco.MjData(model), np.arange(0, seconds, DT)
    target = (
        0.5 * np.sin(2 * np.pi * (0.3 + 0.12 * time) * time)
        + np.repeat(rng.normal(0, 0.2, len(time) // 10 + 1), 10)[: len(time)]
    )
    late = np.interp(np.arange(4 * len(time)) - 4 * TRUE["delay"] / DT, np.arange(4 * len(time)), np.repeat(target, 4))
    rows = []
    for row in range(len(time)):
        rows.append([target[row], data.qpos[0], data.qvel[0], 0.0])
        for inner in range(4):
            drive = np.clip(
                TRUE["kp"] * (late[4 * row + inner] - data.qpos[0]) - TRUE["kd"] * data.qvel[0],
                -TRUE["limit"],
                TRUE["limit"],
            )
            torque = drive - TRUE["load"] * abs(drive) * np.tanh(data.qvel[0] / 0.05)
            if inner == 0:
                rows[-1][3] = torque
            data.qfrc_applied[0] = torque
            mujoco.mj_step(model, data)
    columns = np.array(rows)
    return ActuatorLog(DT, ("hinge",), *(columns[:, [n]] for n in range(4)), kp=np.array([10.0]), kd=np.array([0.3]))


LOG = recorded()


def test_the_parts_of_a_log_are_contiguous_and_do_not_overlap():
    parts = split(LOG)
    rows = [set(map(float, one.target[:, 0])) for one in (parts.train, parts.validation, *parts.test)]
    assert sum(len(one) for one in (parts.train, parts.validation, *parts.test)) == len(LOG)
    assert len(parts.test) == 3
    assert not rows[0] & rows[2]


def test_a_law_fitted_to_torque_finds_the_gains_the_delay_and_the_saturation():
    law = fit_pd(LOG).pd
    assert law.kp[0] == pytest.approx(TRUE["kp"], rel=0.1)
    assert law.delay[0] * DT == pytest.approx(TRUE["delay"], abs=0.005)  # targets are held for a sample
    assert law.limit[0] == pytest.approx(TRUE["limit"], rel=0.15)


def test_every_model_beats_the_data_sheet_on_other_motion():
    parts = split(LOG)
    held = parts.test[1]
    errors = [
        rmse(predicted(one, held) - held.torque)
        for one in (
            ideal_pd(parts.train),
            fit_linear(parts.train, (0, 1, 2)),
            fit_mlp(parts.train, parts.validation, (0, 1, 2), NetworkSettings(rows=3000, epochs=10, batch=256)),
        )
    ]
    assert max(errors[1:]) < 0.7 * errors[0]


def test_the_same_seed_makes_the_same_network():
    parts = split(LOG)
    model = fit_mlp(parts.train, parts.validation, (0, 2), NetworkSettings(hidden=(6,), rows=2000, epochs=3, batch=256))
    again = fit_mlp(parts.train, parts.validation, (0, 2), NetworkSettings(hidden=(6,), rows=2000, epochs=3, batch=256))
    np.testing.assert_array_equal(model.network.weights[0], again.network.weights[0])


def test_replay_finds_the_drive_without_its_torque():
    start = np.array([[10.0], [0.3], [0.002], [0.03], [0.02], [0.004], [0.0], [6.0], [0.01]])
    plant = arm()
    where = thinned(windows(LOG, 1.0), 8)
    found = fit_by_replay(LOG, plant, where, start, iterations=6)
    values = dict(zip(KINDS, values_of(found.actuator, DT)[:, 0], strict=True))
    assert found.rmse < 0.004
    assert values["kp"] == pytest.approx(TRUE["kp"], rel=0.2)
    assert values["limit"] == pytest.approx(TRUE["limit"], rel=0.2)


def test_a_study_compares_all_models_and_keeps_the_one_that_validation_prefers():
    named: list[str] = []
    done = study(LOG, None, QUICK, lambda name, _done: named.append(name))
    assert done.rows[0].name == "ideal PD"
    assert {row.name for row in done.rows} >= {"PD fitted", "linear", "MLP 3 x 32", "GRU", "physics + residual"}
    assert done.best.validation == min(row.validation for row in done.rows)
    assert done.best.overall("torque") < 0.5 * done.rows[0].overall("torque")
    assert done.best.torque.shape == (3, 1)
    assert "choosing lags" in named


def test_joints_in_another_order_are_noticed_by_their_ranges():
    plant = arm()
    check_order(plant, np.full((10, 1), 1.5))
    with pytest.raises(Problem, match=r"hinge of the log is around 2\.60 rad.*another order"):
        check_order(plant, np.full((10, 1), 2.6))


def test_an_unknown_robot_is_refused_with_those_there_are():
    with pytest.raises(Problem, match="unknown robot 'spot': choose from"):
        load_plant("spot", ("a",), {})
    with pytest.raises(Problem, match="needs its mass"):
        load_plant("pendulum", ("a",), {})


def test_a_fitted_law_runs_in_the_engine_at_the_physics_rate():
    model = fit_pd(LOG)
    engine = make_engine(model.at(DT / 4), 1)
    given = [np.array([[value]]) for value in (0.4, 0.1, 0.2)]
    np.testing.assert_allclose(engine.step(*given), make_engine(model, 1).step(*given), atol=1e-9)
