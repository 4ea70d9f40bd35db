import pytest

from isthmus.bench import Benchmark, run_benchmarks
from isthmus.bench.firmware import can_emulate
from isthmus.bench.measure import in_turns, middle
from isthmus.bench.vision import can_render
from isthmus.core import Problem


def test_every_hot_path_is_measured_against_its_floor(monkeypatch):
    monkeypatch.setattr("isthmus.bench.stepping.STEPS", 10)  # what is measured is not how fast, but that it is
    monkeypatch.setattr("isthmus.bench.collecting.STEPS", 10)
    monkeypatch.setattr("isthmus.bench.vision.IMAGES", 10)
    rows = {benchmark.name: benchmark.to_json() for benchmark in run_benchmarks(1)}
    paths = ["batched-stepping", "batched-vs-gymnasium", "collection", "control-step", "fit", "fit-memory"]
    paths += ["actuator-step", "actuator-batch"]
    robots = ("hopper", "half-cheetah", "humanoid")
    steps = [f"{step}-{robot}" for robot in robots for step in ("amortised", "following", "inverting")]
    firmware = [name for name in rows if name.startswith("firmware-")]
    bundles = ["bundle-step", "bundle-step-fused"]
    vision = ["vision-render"] if can_render() else []
    estimators = [f"estimating-hopper-{name}" for name in ("kalman", "learned", "ensemble")]
    assert list(rows) == paths + steps + estimators + bundles + firmware + vision
    assert all(rows[name]["step"]["p99"] > 0 for name in estimators + bundles)
    assert ("firmware-cost" in rows) == can_emulate()
    for row in rows.values():
        assert {"name", "ratio", "half_iqr", "floor", "goal", "meets"} <= row.keys()
        assert row["ratio"] > 0
    # Memory does not depend on how busy the machine is: a fit must not copy the windows.
    assert rows["fit-memory"]["meets"]


def test_only_what_is_asked_for_is_measured():
    assert [one.name for one in run_benchmarks(1, ("actuator-step",))] == ["actuator-step"]
    with pytest.raises(Problem, match="unknown benchmark 'actuators': choose from actuator-batch"):
        list(run_benchmarks(1, ("actuators",)))


def test_a_goal_is_met_from_the_right_side():
    assert Benchmark("a", 0.9, 0.0, "", 0.85, "higher").meets
    assert not Benchmark("a", 0.8, 0.0, "", 0.85, "higher").meets
    assert Benchmark("a", 1.9, 0.0, "", 2.0, "lower").meets
    assert not Benchmark("a", 2.1, 0.0, "", 2.0, "lower").meets


def test_ours_and_the_floor_are_measured_in_turns():
    order = []
    in_turns(lambda: order.append("ours"), lambda: order.append("floor"), 3)
    assert order == ["ours", "floor"] * 4


def test_the_middle_is_not_moved_by_an_outlier():
    assert middle([1.0, 1.0, 1.0, 1.0, 100.0]) == (1.0, 0.0)


def test_no_repeats_are_refused():
    with pytest.raises(Problem, match="at least 1"):
        list(run_benchmarks(0))
