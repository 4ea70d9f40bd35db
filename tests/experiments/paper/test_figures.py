import pytest

from isthmus.experiments.paper import FIGURES
from isthmus.experiments.paper.count import SAMPLES
from isthmus.experiments.paper.settings import CORRECTION, OURS, PAPERS
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.transfer import PolicyFile

EVERY = [FIGURES[name](quick=quick) for name in FIGURES for quick in (False, True)]


@pytest.fixture(params=EVERY, ids=lambda figure: figure.folder)
def figure(request):
    return request.param


def test_no_two_cells_share_a_name(figure):
    names = [case.file(seed) for case in figure.cases for seed in range(12)]
    assert len(set(names)) == len(names)


def test_every_gap_fits_its_robot_and_is_written_as_it_is_read(figure):
    for case in figure.cases:
        assert str(Gap.parse(case.gap)) == case.gap == case.config.gap
        Gap.parse(case.gap).apply(load_task(case.robot).robot_model.model)


def test_a_quick_look_has_cases_of_the_figure_and_costs_less():
    for name in FIGURES:
        full = {(case.robot, case.gap, case.arm): case.config for case in FIGURES[name]().cases}
        quick = {(case.robot, case.gap, case.arm): case.config for case in FIGURES[name](quick=True).cases}
        assert quick.keys() < full.keys()
        assert {key[0] for key in quick} == {key[0] for key in full}
        assert all(config.samples <= full[key].samples for key, config in quick.items())


def test_figure_3_has_the_sizes_of_the_paper():
    gaps = {robot: [case.gap for case in EVERY[0].cases if case.robot == robot] for robot in EVERY[0].robots}
    tilts, noises = [f"tilt={d}" for d in (15, 30, 45, 60, 75, 90)], [f"motor-noise={s}" for s in (0.05, 0.1, 0.2)]
    assert gaps["reacher"] == ["none", *tilts, *noises]
    for robot in ("hopper", "half-cheetah", "humanoid"):
        assert gaps[robot] == ["gravity=0.8", "gravity=0.9", "none", "gravity=1.1", "gravity=1.2", *noises]
    assert all(case.config.stop_at_score is None for case in EVERY[0].cases)  # its score is that of the whole budget


def test_figure_4_has_the_cases_of_the_paper_and_ends_when_three_quarters_are_held():
    figure = FIGURES["figure-4"]()
    assert len(figure.cases) == sum(map(len, SAMPLES.values())) == 28
    assert {case.config.stop_at_score for case in figure.cases} == {0.75}
    assert {(case.arm, case.config.settings.history) for case in figure.cases} == {("no history", 1), ("history", 2)}
    first = [case.gap for case in figure.cases[:7]]
    assert first[:3] == ["none", "motor-noise=0.2", "motor-noise=0.2,noise-correlation=0.9"]
    assert first[-1] == "motor-noise=1,noise-correlation=1"


@pytest.mark.parametrize("name", FIGURES)
def test_the_papers_network_stands_beside_ours_with_and_without_history(name):
    figure = FIGURES[name](arms=(*OURS, *PAPERS, *CORRECTION))
    names = [case.file(seed) for case in figure.cases for seed in range(2)]
    assert len(set(names)) == len(names)
    theirs = {case.arm: case.config for case in figure.cases if case.arm.startswith("paper's")}
    assert {(config.method, config.settings.history) for config in theirs.values()} == {
        ("inverse", 1),
        ("inverse", 2),
        ("correction", 2),
    }
    ours = {(case.robot, case.gap): case.config for case in figure.cases if case.arm == "history"}
    for case in figure.cases:
        assert case.config.samples >= ours[case.robot, case.gap].samples
        assert case.config.stop_at_score == ours[case.robot, case.gap].stop_at_score
    assert figure.options == {"arms": ["ours", "paper", "correction"]}


def test_a_policy_is_one_robots(tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"mine")
    policy = PolicyFile(str(tmp_path / "mine.npz"))
    figure = FIGURES["figure-4"]().with_policy("hopper", policy)
    assert figure.robots == ("hopper",)
    assert {case.config.policy for case in figure.cases} == {policy}
    assert figure.options["policy"] == policy.path
