"""Which trials keep a promise; and one real trial, with a robot."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from isthmus.experiments.faults.kinds import FAULTS, Fault
from isthmus.experiments.faults.row import Row, run_row
from isthmus.experiments.faults.trial import Trial
from isthmus.hardware.ros1.bindings import find_ros

GOOD = Trial(hold=0.02, rest=0.3, travel=0.1, peak=0.9, outside=0, goals=20, after=0, code=2, said="")
KEY = next(fault for fault in FAULTS if fault.name == "stop key")
KILLED = next(fault for fault in FAULTS if "kill -9" in fault.name)
REFUSED = next(fault for fault in FAULTS if fault.promise == "refused")


@pytest.mark.parametrize(
    ("fault", "change", "broken"),
    [
        (KEY, {}, []),
        (KEY, {"hold": 0.2}, ["hold"]),
        (KEY, {"hold": None}, ["hold"]),
        (KEY, {"code": 0}, ["exit code"]),
        (KEY, {"outside": 1}, ["limits"]),
        (KEY, {"peak": 1.2}, ["speed"]),
        (KEY, {"after": 1}, ["goal after hold"]),
        (KILLED, {"hold": None}, []),
        (KILLED, {"rest": 2.0}, ["rest"]),
        (KILLED, {"rest": None}, ["rest"]),
        (REFUSED, {"goals": 0}, []),
        (REFUSED, {"goals": 1}, ["moved"]),
    ],
)
def test_a_promise_that_is_broken_is_named(fault, change, broken):
    assert Row(fault, fault.phases[0], []).broken(replace(GOOD, **change)) == broken


def test_every_fault_that_must_be_tried_is():
    tried = " ".join(fault.name for fault in FAULTS)
    for name in ("key", "topic", "Ctrl-C", "SIGTERM", "kill -9", "frozen", "killed", "network gone", "ahead", "behind"):
        assert name in tried
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_stop_key_is_tried_on_a_robot():
    if missing := find_ros():
        pytest.skip(missing)
    pytest.importorskip("gymnasium_robotics")
    # In a process of its own: rospy joins one graph in the life of a process.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        row = pool.submit(run_row, Fault("stop key", "key", "stop", code=2), "move", trials=1, seed=0).result()
    trial = row.trials[0]
    assert trial.hold is not None
    assert trial.hold < 1.0  # on a machine that is busy with other tests
    assert trial.outside == trial.after == 0
    assert trial.code == 2
    assert "emergency stop (stop key)" in trial.said
