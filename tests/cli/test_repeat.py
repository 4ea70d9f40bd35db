"""Every command that is printed to repeat something asks for the same again."""

import shlex
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isthmus.adapt import METHODS, MethodSettings
from isthmus.adapt.settings import CollectSettings, Components, FitSettings
from isthmus.cli.parse import parse
from isthmus.experiments.comparison import Case
from isthmus.experiments.comparison.case import choose_entries
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.seeds import SeedStudy
from isthmus.experts.make import _command
from isthmus.experts.settings import TrainSettings
from isthmus.hardware import SafetySettings
from isthmus.transfer import Config, PolicyFile
from isthmus.transfer.config import repeat_command
from isthmus.transfer.targets.spec import TargetSpec

EPISODES = st.integers(50, 200)
SHARE = st.floats(0.01, 0.5)
NAME = st.text("ab -'=$;", min_size=1, max_size=6).filter(lambda name: not name.startswith("-"))
TARGETS = st.one_of(
    st.builds(TargetSpec, st.just("gap"), st.one_of(st.sampled_from(["none", "tilt=90", "random:3"]), NAME)),
    st.builds(TargetSpec, st.just("gym"), st.one_of(st.sampled_from(["Hopper-v5", "a:B-v0", "a:B", "an arm"]), NAME)),
    st.builds(TargetSpec, st.just("ros"), st.sampled_from(["//127.0.0.1:11311", "//robot:1"])),
)
METHOD_SETTINGS = st.builds(
    MethodSettings,
    history=st.integers(1, 9),
    collect=st.builds(CollectSettings, interrupt=SHARE, drift=st.floats(0.5, 9)),
    fit=st.builds(FitSettings, hidden=st.lists(st.integers(1, 300), min_size=1, max_size=3).map(tuple), batch=EPISODES),
    components=st.builds(Components, *[st.booleans()] * 7),
)
CONFIGS = st.builds(
    lambda target, ends, **rest: Config(
        "reacher",
        target.gap,
        environment=target.environment,
        evaluate_rounds=target.simulated or rest["seed"] % 2 == 0,
        round_ends=tuple(sorted(ends)),
        **rest,
    ),
    TARGETS,
    st.sets(st.integers(1, 10**6), max_size=3),
    method=st.sampled_from(sorted(METHODS)),
    samples=st.sampled_from([100, 2000, 2500, 10_000, 10**6]),
    seed=st.integers(0, 2**63 - 1),
    round_samples=st.sampled_from([100, 250, 1000, 10**5]),
    evaluation_episodes=EPISODES,
    stop_at_score=st.one_of(st.none(), st.floats(-1, 1)),
    interim_episodes=st.booleans(),
    settings=METHOD_SETTINGS,
    safety=st.builds(SafetySettings, step=SHARE, blocked=st.floats(0.1, 100)),
)


@given(CONFIGS)
@example(Config("reacher"))
@example(Config("reacher", samples=10_000))
@example(Config("reacher", samples=10_000, round_samples=1000))
@example(Config("reacher", environment="arm.py", evaluation_episodes=5, evaluate_rounds=False))
@example(Config("reacher", environment="ros://robot", method="preview", evaluation_episodes=3))
@example(Config("reacher", settings=MethodSettings(may_retrain=True)))
@settings(max_examples=30, deadline=None)
def test_a_run_is_repeated_with_the_same_configuration(config):
    command = shlex.split(repeat_command(config))
    assert command[0] == "isthmus"
    assert parse(command[1:])._config() == config


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "my policy.onnx").write_bytes(b"a policy")
    (tmp_path / "-numbers.pkl").write_bytes(b"numbers")
    return PolicyFile(str(tmp_path / "my policy.onnx"), str(tmp_path / "-numbers.pkl"), "v5").trusted()


def asked_again(command):
    """The options of a command that was printed."""
    program, *words = shlex.split(command)
    assert program == "isthmus"
    return parse(words)


def test_a_policy_is_repeated_with_what_belongs_to_it(policy):
    config = Config("reacher", policy=policy)
    source = asked_again(repeat_command(config)).source
    assert source.file == policy
    assert source.trust


def test_a_study_of_seeds_is_repeated(policy):
    config = Config("reacher", "tilt=90", samples=60, policy=policy, settings=MethodSettings(3, may_retrain=True))
    asked = asked_again(SeedStudy(config, ()).command)
    assert (asked.task, asked.gap, asked.method, asked.samples) == ("reacher", "tilt=90", "auto", 60)
    assert (asked.history, asked.may_retrain, asked.seeds, asked.source.file) == (3, True, 0, policy)


@pytest.mark.parametrize("metrics", [("even",), ()])
def test_a_comparison_is_repeated(policy, metrics):
    case = Case(
        *("reacher", "tilt=90", 700, choose_entries("pd,inverse")),
        episodes={"pd": 60},
        default_episodes=70,
        metrics=metrics,
        oracle_episodes=9,
        policy=policy,
    )
    asked = asked_again(Comparison(case, 4, (), {}).command)
    assert (asked.task, asked.gap, asked.samples, asked.seeds) == ("reacher", "tilt=90", 700, 4)
    assert choose_entries(",".join(asked.methods)) == case.entries
    assert (asked.episodes, asked.oracle, asked.source.file) == ("70,pd=60", bool(metrics), policy)
    assert asked.oracle_episodes == 9 or not metrics


def test_a_training_is_repeated_with_what_it_began_with():
    asked = asked_again(_command("a robot.py", TrainSettings(steps=7, rate=1e-5), 3, Path("old/first.npz")))
    assert (asked.task, asked.seed, asked.steps, asked.rate) == ("a robot.py", 3, 7, 1e-5)
    assert (asked.out, asked.start, asked.worlds) == (Path("a robot.py.npz"), Path("first.npz"), None)


@pytest.mark.parametrize(
    "words",
    [
        ["train", "table", "--object", "cone", "--minutes", "5", "--randomise.lights", "2:3", "--randomise.own-look"],
        ["train", "scene.xml", "--camera", "left", "--images", "900", "--widths", "4", "8", "8", "8", "--start", "a b"],
    ],
)
def test_a_localiser_is_trained_again_by_the_command_in_its_report(words):
    asked = parse(["vision", *words])
    again = parse(shlex.split(asked.command())[1:])
    assert again == asked
