"""The command that repeats a run."""

import dataclasses
import shlex
from typing import Any

from isthmus.transfer import Config


def repeat_command(config: Config, out: str = "NEW") -> str:
    """The command line of `config`: what it is, and every setting that is not as usual."""
    words = ["isthmus", "transfer", config.task]
    words += [word for name, value in config.target.options.items() for word in (f"--{name}", value)]
    for name in ("samples", "seed", "method"):
        words += [f"--{name}", str(getattr(config, name))]
    words += ["--history", str(config.settings.history)] if config.settings.history != 1 else []
    words += ["--may-retrain"] if config.settings.may_retrain else []
    words += config.policy.options if config.policy else []
    usual = Config(task=config.task)
    for name in ("round_samples", "evaluation_episodes"):
        words += _option(name, getattr(config, name), getattr(usual, name))
    if not config.target.simulated:
        words += ["--evaluation-episodes", "100"] if config.evaluation_episodes == usual.evaluation_episodes else []
        words += ["--evaluate-rounds"] if config.evaluate_rounds else []
    for group in ("collect", "fit"):
        ours, theirs = getattr(config.settings, group), getattr(usual.settings, group)
        for field in dataclasses.fields(ours):
            words += _option(f"{group}.{field.name}", getattr(ours, field.name), getattr(theirs, field.name))
    for field in dataclasses.fields(config.safety):
        words += _option(f"safety.{field.name}", getattr(config.safety, field.name), getattr(usual.safety, field.name))
    return shlex.join([*words, "--out", out])


def _option(name: str, value: Any, usual: Any) -> list[str]:  # noqa: ANN401 - whatever a setting holds
    if value == usual:
        return []
    values: list[object] = [*value] if isinstance(value, tuple) else [value]
    return [f"--{name.replace('_', '-')}", *(str(one) for one in values)]
