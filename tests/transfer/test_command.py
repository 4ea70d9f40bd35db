import dataclasses
import shlex

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import CollectSettings, FitSettings
from isthmus.hardware import SafetySettings
from isthmus.transfer import Config
from isthmus.transfer.config import repeat_command


def test_usual_settings_are_not_repeated():
    assert repeat_command(Config(task="reacher", gap="tilt=90", seed=3)) == (
        "isthmus transfer reacher --gap tilt=90 --samples 2000 --seed 3 --method auto --out NEW"
    )


def test_every_unusual_setting_is_there():
    settings = MethodSettings(
        history=4,
        collect=CollectSettings(interrupt=0.123, first_share=0.25),
        fit=FitSettings(hidden=(64, 32), epochs=9),
        may_retrain=True,
    )
    words = repeat_command(Config(task="reacher", round_samples=99, evaluation_episodes=77, settings=settings))
    for option in (
        "--history 4",
        "--may-retrain",
        "--round-samples 99",
        "--evaluation-episodes 77",
        "--collect.interrupt 0.123",
        "--collect.first-share 0.25",
        "--fit.hidden 64 32",
        "--fit.epochs 9",
    ):
        assert f" {option} " in words


def test_a_name_cannot_become_a_second_command():
    config = dataclasses.replace(Config(task="reacher"), gap="tilt=1; rm -rf /")
    assert shlex.split(repeat_command(config))[4] == "tilt=1; rm -rf /"


def test_a_real_target_is_repeated_with_its_own_settings():
    real = Config(
        task="reacher",
        environment="arm.py",
        evaluation_episodes=5,
        evaluate_rounds=False,
        safety=SafetySettings(step=2.0),
    )
    words = repeat_command(real)
    assert "--target arm.py --samples 2000" in words
    assert "--gap" not in words
    assert "--evaluation-episodes" not in words  # as usual for an environment
    assert "--safety.step 2.0" in words
    assert "--evaluate-rounds" not in words
    old = dataclasses.replace(real, environment="ros://127.0.0.1:11311", evaluation_episodes=100, evaluate_rounds=True)
    for option in ("--robot ros://127.0.0.1:11311", "--evaluation-episodes 100", "--evaluate-rounds"):
        assert option in repeat_command(old)
