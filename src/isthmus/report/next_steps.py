"""What to do after a run: use the adapted policy, take more samples, or try another way."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from isthmus.core.command import command_of
from isthmus.report.charts import still_rising
from isthmus.report.charts.chart import percent
from isthmus.report.run import Run
from isthmus.robots.registry import is_code
from isthmus.transfer.config import repeat_command

RECOVERED, LITTLE = 0.9, 0.3
"""Shares of the loss from which on, and below which, a transfer is called a success, or of little use."""
MORE = 3
"""How many times as many samples are worth a try."""
FIRST_SAMPLES = 1000
"""Worth a try where none were taken."""
USE = """\
from isthmus import RunFolder, load_adapted{imports}

policy = load_adapted(RunFolder("RUN"){task})
policy.begin()  # before every episode
command = policy(observation)  # ({observations},) -> ({actions},)"""


@dataclass(frozen=True)
class NextStep:
    """One thing to do."""

    title: str
    why: str
    command: str
    """A command line or a piece of Python. RUN is the folder of this run, and NEW another one."""


def next_steps(run: Run) -> list[NextStep]:
    """What to do next, by what this run came to; the most useful first."""
    result = run.result
    if run.config.follows_reference:
        return _after_following(run)
    if not result.samples:
        return _after_no_adaptation(run)
    if not result.is_felt:
        keep = "The policy loses nothing noticeable on this target: deploy it unchanged. A larger gap shows its limits."
        return [NextStep("Keep the policy as it is", keep, _sensitivity(run))]
    recovered = result.recovered or 0.0
    if recovered >= RECOVERED:
        return [*_faster(run), _use(run, "It is at the expert’s level."), _repeat(run)]
    steps = [step for make in (_more_samples, _retrain, _auto, _history) if (step := make(run))]
    if recovered < LITTLE:
        worse = "It does worse than the unadapted policy: deploy that one until another run does better."
        found = "It recovers little of what was lost. See first what differs between simulator and target."
        return [_identify(run, worse if recovered < 0 else found), *steps[:2], *_compare(run)]
    partly = f"It recovers {percent(recovered)} of what was lost, which is better than the unadapted policy."
    return [*_faster(run), *steps[:2], *_compare(run), _use(run, partly)]


def _after_following(run: Run) -> list[NextStep]:
    """There is no policy to go back to: use what was learned, or learn more."""
    if not run.result.samples:
        why = "This run learned nothing of the target. Give it some samples."
        return [NextStep("Take samples", why, _again(run, samples=FIRST_SAMPLES))]
    more = _more_samples(run)
    return [*([more] if more else []), _use(run, "It follows the recorded observations."), _repeat(run)]


def _after_no_adaptation(run: Run) -> list[NextStep]:
    if not run.result.is_felt:
        return [NextStep("Keep the policy as it is", "It loses nothing noticeable on this target.", _sensitivity(run))]
    why = "This run changed nothing. Let the default method adapt the policy, and compare."
    return [NextStep("Adapt the policy", why, _again(run, method="auto")), *_compare(run)]


def _use(run: Run, why: str) -> NextStep:
    robot_file = is_code(run.config.task)
    code = USE.format(
        imports=", load_task" if robot_file else "",
        task=f", load_task({run.config.task!r})" if robot_file else "",
        observations=run.spec.observation_size,
        actions=run.spec.action_size,
    )
    period = f"{1000 * run.spec.control_period:.3g} ms"
    return NextStep("Use the adapted policy", f"{why} Ask it for a command every {period}, from Python:", code)


def _faster(run: Run) -> list[NextStep]:
    """Another method, if this one cannot keep up with the robot."""
    took, period = run.step_time, run.spec.control_period
    if took is None or took.p50 <= 1e6 * period or run.config.method == "inverse":
        return []
    why = (
        f"A control step took {took.p50 / 1e3:.2g} ms on this machine, and the robot waits {1e3 * period:.3g} ms "
        "for it. Use a faster machine, or a network, which needs no simulation in a step."
    )
    return [NextStep("Make it fast enough", why, _again(run, method="inverse"))]


def _repeat(run: Run) -> NextStep:
    why = "Chance decides which samples are taken. The same score from another seed confirms the result."
    return NextStep("Confirm it", why, _again(run, seed=run.config.seed + 1))


def _more_samples(run: Run) -> NextStep | None:
    once = sum(one.evaluated for one in run.rounds) == 1
    if not once and not still_rising(run):
        return None
    why = "Only one round was scored, so more samples may help." if once else "The score was still rising at the end."
    return NextStep("Take more samples", why, _again(run, samples=MORE * run.config.samples))


def _retrain(run: Run) -> NextStep | None:
    if run.config.method != "auto" or run.config.settings.may_retrain or not run.result.falls_short:
        return None
    why = (
        "No change of the actions was predicted to close the gap. Let the policy itself be trained on in the corrected "
        "simulator (needs isthmus[train] and a policy that is a network)."
    )
    return NextStep("Allow retraining", why, _again(run, settings=replace(run.config.settings, may_retrain=True)))


def _auto(run: Run) -> NextStep | None:
    if run.config.method == "auto":
        return None
    why = "The default method tries several ways in the corrected simulator, and takes the one that does best there."
    return NextStep("Let auto choose", why, _again(run, method="auto"))


def _history(run: Run) -> NextStep | None:
    settings = run.config.settings
    if run.config.method not in ("inverse", "correction") or settings.history > 1:
        return None
    why = "With two observations the model can tell delays and disturbances that last from noise."
    return NextStep("Look further back", why, _again(run, settings=replace(settings, history=2)))


def _identify(run: Run, why: str) -> NextStep:
    return NextStep("See what differs", why, command_of(("analyse", "identify", run.config.task), {"logs": "RUN"}))


def _compare(run: Run) -> list[NextStep]:
    """Every method on the same gap; only where the target is simulated, since it takes many runs."""
    config = run.config
    if run.result.target_steps is not None:
        return []
    policy = config.policy.options if config.policy else {}
    options = {"gap": config.gap, "samples": config.samples, **policy, "seeds": 3, "out": "NEW"}
    why = "Run every method on this gap from the same seeds, and get advice on which to take."
    return [NextStep("Compare methods", why, command_of(("compare", config.task), options))]


def _sensitivity(run: Run) -> str:
    return command_of(("policy", "sensitivity", run.config.task), {"out": "NEW"})


def _again(run: Run, **changes: object) -> str:
    make: Callable[..., str] = repeat_command
    return make(replace(run.config, **changes))  # pyright: ignore[reportArgumentType]
