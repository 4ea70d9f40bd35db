"""The command that repeats a run."""

from isthmus.core.command import command_of
from isthmus.transfer.config import Config, usual_episodes, usual_round_samples


def repeat_command(config: Config, out: str = "NEW") -> str:
    """The command line of `config`: what it is, and every setting that is not as usual."""
    target, settings = config.target, config.settings
    # A robot's rounds and trials are otherwise planned by the time there is.
    planned = target.kind == "ros"
    usual_round = config.round_samples == usual_round_samples(config.samples)
    options: dict[str, object] = {
        **target.options,
        "samples": config.samples,
        "seed": config.seed,
        "method": config.method,
        "history": settings.history if settings.history != 1 else None,
        "may_retrain": settings.may_retrain,
        **(config.policy.options if config.policy else {}),
        "round_samples": None if usual_round and not planned else config.round_samples,
        "round_ends": config.round_ends,
        "evaluation_episodes": None
        if config.evaluation_episodes == usual_episodes(target) and not planned
        else config.evaluation_episodes,
        "evaluate_rounds": config.evaluate_rounds and not target.simulated,
        "interim_episodes": config.interim_episodes,
        "stop_at_score": config.stop_at_score,
        "collect": settings.collect,
        "fit": settings.fit,
        "components": settings.components,
        "safety": config.safety,
        "out": out,
    }
    return command_of(("transfer", config.task), options)
