import numpy as np
import pytest

from isthmus.gaps import KINDS, MIXTURE, Gap
from isthmus.gaps.mixture import FEWEST, MOST
from isthmus.robots import TASKS, load_task

SEEDS = range(40)
RANGES = {one.name: one for one in MIXTURE}


DRAWN = {}


def drawn(seed, task):
    """The gap of a seed, which is worked out once for all tests: whether it fits takes a while."""
    if (seed, task.name) not in DRAWN:
        DRAWN[seed, task.name] = Gap.parse(f"random:{seed}").resolve(task.robot_model.model)
    return DRAWN[seed, task.name]


@pytest.fixture(params=sorted(TASKS), scope="module")
def task(request):
    return load_task(request.param)


def test_a_seed_is_a_gap_and_its_text_says_which(task):
    for seed in SEEDS:
        gap = drawn(seed, task)
        assert gap == Gap.parse(f"random:{seed}").resolve(task.robot_model.model)
        assert gap.random is None
        assert Gap.parse(str(gap)) == gap
        assert len(str(gap)) < 150


def test_other_seeds_are_other_gaps(task):
    assert len({str(drawn(seed, task)) for seed in SEEDS}) == len(SEEDS)


def test_it_stays_within_the_mixture(task):
    turned = set()
    for seed in SEEDS:
        dials = [(name.partition(":")[0], value) for name, value in drawn(seed, task).settings]
        assert FEWEST <= len([name for name, _ in dials if name != "noise-correlation"]) <= MOST
        for name, value in dials:
            if name == "noise-correlation":
                assert value in (0, 0.9, 1)
                continue
            low, high = RANGES[name].low, RANGES[name].high
            assert low * 0.995 <= value <= high * 1.005  # values are rounded
        turned |= {name for name, _ in dials}
    assert turned - {"noise-correlation"} == {name for name in RANGES if KINDS[name].fits(task.robot_model.model)}


def test_it_can_be_applied_and_run(task):
    for seed in range(10):
        gap = drawn(seed, task)
        worlds = task.target(Gap.parse(f"random:{seed}"), 2), task.target(gap, 2)
        seen = [world.reset(np.random.default_rng(0)) for world in worlds]
        for _ in range(10):
            commands = np.full((2, task.robot_model.spec.action_size), 0.1)
            seen = [world.step(commands).observations for world in worlds]
        np.testing.assert_array_equal(*seen)
        assert np.isfinite(seen[0]).all()


def test_dials_given_besides_keep_their_value(task):
    for seed in SEEDS:
        alone, both = drawn(seed, task), Gap.parse(f"motor-noise=0.31,random:{seed}").resolve(task.robot_model.model)
        assert ("motor-noise", 0.31) in both.settings
        rest = [setting for setting in alone.settings if setting[0] not in ("motor-noise", "noise-correlation")]
        assert [setting for setting in both.settings if setting[0] != "motor-noise"] == rest


def test_factors_go_down_as_often_as_up():
    task = load_task("hopper")
    factors = [
        value
        for seed in range(150)
        for name, value in drawn(seed, task).settings
        if RANGES.get(name) and RANGES[name].factor
    ]
    assert np.mean(np.array(factors) > 1) == pytest.approx(0.5, abs=0.1)
