"""What is printed when a run has ended."""

from isthmus.adapt import METHODS
from isthmus.cli.output import print_table, stdout
from isthmus.transfer import Result, RunFolder
from isthmus.transfer.result import FALLS_SHORT

LISTED_ACTUATORS = 3
"""Actuators whose errors are printed; the report has them all."""
MANY_DROPPED = 0.05
"""Share of the readings from which on it is said that something is wrong with them."""


def print_step(folder: RunFolder) -> None:
    """How long one robot waits for its command."""
    if took := folder.step_time():
        stdout.print(f"control step of one robot: {took}", soft_wrap=True)


def print_robot(folder: RunFolder) -> None:
    """How it went with the robot."""
    for part in folder.robot_parts()[-1:]:
        pace, clipped = part["pace"], part["clipped"]
        stdout.print(
            f"{pace['robot_seconds'] / 60:.1f} minutes of robot time, {pace['steps']} steps, "
            f"{pace['share_within_2_ms']:.1%} within 2 ms of their deadline, {pace['lost']} episodes cut short; "
            f"commands clipped: {clipped['step']} steps, {clipped['lead']} leads, {clipped['position']} positions",
            soft_wrap=True,
        )
        traffic = part.get("traffic", {})
        dropped = traffic.get("share_dropped", 0.0)
        stdout.print(
            f"{traffic.get('received', 0)} readings, {dropped:.1%} of no use"
            + (": the robot's clock, its sensors or the network need a look" if dropped > MANY_DROPPED else ""),
            soft_wrap=True,
        )


def print_fit(folder: RunFolder, actuators: tuple[str, ...]) -> None:
    """How well the model predicts actions on episodes it was not fitted to."""
    rounds = folder.rounds()
    if rounds and rounds[-1].fit["error"]:
        fit = rounds[-1].fit
        each = list(zip(actuators, fit["error"], fit["action_std"], strict=True))
        which = ""
        if len(each) > LISTED_ACTUATORS:
            each = sorted(each, key=lambda one: one[1] / one[2] if one[2] else 0.0, reverse=True)[:LISTED_ACTUATORS]
            which = f", the largest {LISTED_ACTUATORS} of {len(actuators)}"
        texts = (
            f"{name} {error:.3f}" + (f" ({error / std:.0%} of its std)" if std else "") for name, error, std in each
        )
        stdout.print(f"held-out action error{which}: {', '.join(texts)}", soft_wrap=True)


def _loss_text(result: Result, policy: str) -> str:
    """What a policy loses of the expert's score, as a share of it; nothing where that score is zero."""
    loss = result.relative_loss[policy]
    return "" if loss is None else f"{loss:.1%}"


def print_result(result: Result) -> None:
    """The closing table."""
    mark = " (SEES THE TARGET'S REWARD)" if METHODS[result.method].sees_reward else ""
    further = f" and {result.further_steps:,} further steps" if result.target_steps else ""
    print_table(
        f"{result.task}, {result.gap}, {result.method}{mark}, seed {result.seed}, {result.samples} samples{further}",
        ("", "score ", "+/- ", "normalised ", "loss "),
        [
            ("expert in its simulator", f"{result.expert:.3f}", f"{result.std['expert']:.3f}", "1.000", ""),
            (
                "unadapted on the target",
                f"{result.unadapted:.3f}",
                f"{result.std['unadapted']:.3f}",
                f"{result.normalised_unadapted:.3f}",
                _loss_text(result, "unadapted"),
            ),
            (
                "adapted on the target",
                f"{result.adapted:.3f}",
                f"{result.std['adapted']:.3f}",
                f"{result.normalised_adapted:.3f}",
                _loss_text(result, "adapted"),
            ),
        ],
    )
    if steps := result.target_steps:
        stdout.print(
            f"on the target: {steps['collection']:,} steps to learn from, {steps['evaluation']:,} to score policies, "
            f"{steps['traces']:,} for the report, {steps['resets']:,} resets",
            soft_wrap=True,
        )
    if result.chosen and result.predicted is not None:
        stdout.print(f"taken: {result.chosen}, with {result.predicted:.3f} predicted in rehearsal", soft_wrap=True)
    if result.falls_short:
        stdout.print(FALLS_SHORT, soft_wrap=True)
    if result.effort:
        _print_effort(result)
    if result.chatters:
        stdout.print(f"warning: {result.chatter_text}", soft_wrap=True)


def _print_effort(result: Result) -> None:
    """How hard the actuators work."""
    print_table(
        "actuators, in half ranges",
        ("", "effort ", "command rate ", "at limits "),
        [
            (name, f"{one.effort:.3f}", f"{one.command_rate:.3f}", f"{one.at_limits:.1%}")
            for name, one in result.effort.items()
        ],
    )
