"""Check a policy, and a robot, before they cost days."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from isthmus.cli.arguments import EXPERT, PolicyArgument, TaskArgument, reward_name
from isthmus.cli.output import print_json, print_table, stdout
from isthmus.core import Problem

if TYPE_CHECKING:
    from isthmus.evaluate.preflight import Preflight
    from isthmus.tasks import Task

LISTED = 3
"""Mistakes that are shown with their returns."""


@dataclass(frozen=True)
class Check:
    """Check a robot and its policy in simulation, and name what is wrong.

    Example: `isthmus check hopper --policy ppo_hopper.zip --expect-return 3000`

    The robot is checked first: `restore` has to undo `observe` along the policy's trajectory, and n robots together
    have to do what each does alone. Then the policy: its episodes have to last, and its return has to be what is
    claimed. Where it is not, the usual mistakes are undone one by one: sign, order, scale, rate, a missing normaliser,
    and inputs that were constant in training. Of a policy with an observation spec, each usual mistake in the spec is
    undone: order, scale, sign and frame of terms, order and sign of joints, default pose, stale last action, stack.
    What helps is printed as --spec-edit, which `isthmus transfer` takes too.

    Exits with code 1 when something is wrong.
    """

    task: TaskArgument
    source: PolicyArgument = EXPERT
    expect_return: float | None = None
    """Return on the task's reward that its author claims; what is recorded beside an .npz when not given."""
    episodes: int = 20
    """Episodes behind each figure."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Check and print."""
        from isthmus.evaluate.preflight import preflight
        from isthmus.policies.sb3 import trained_normalised
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy

        if self.episodes < 1:
            raise Problem(f"episodes must be at least 1, got {self.episodes}")
        task = load_task(self.task)
        policy = source_policy(task, self.source.file)
        claimed, reference = self._claims(task)
        found = preflight(
            task,
            policy,
            bare=None if self.source.normaliser else policy,
            expected=claimed,
            episodes=self.episodes,
            seed=self.seed,
            reference=reference,
            recorded=self.source.policy is not None and trained_normalised(self.source.policy),
        )
        if self.json:
            print_json(_as_json(found))
        else:
            self._print(found, task)
        if not found.as_expected:
            raise SystemExit(1)

    def _claims(self, task: "Task") -> tuple[float | None, float | None]:
        """The return that is claimed for the policy, and that of the expert that ships where nothing is."""
        from isthmus.experts import expert_path, recorded_return
        from isthmus.robots import TASKS

        if self.expect_return is not None:
            return self.expect_return, None
        if self.source.policy is not None and (claimed := recorded_return(self.source.policy)) is not None:
            return claimed, None
        ships = recorded_return(expert_path(task.name)) if self.task in TASKS else None
        return (ships, None) if self.source.policy is None else (None, ships)

    def _print(self, found: "Preflight", task: "Task") -> None:
        rows = [
            (f"return, {reward_name(task)}", f"{found.gym_return:.1f} +/- {found.std:.1f}"),
            ("doing nothing", f"{found.zero:.1f}"),
            ("full-length episodes", f"{found.full_length:.0%}"),
            ("commands beyond the limits", f"{found.saturated:.0%}"),
        ]
        print_table(f"{self.task}, {self.source.policy or 'its expert'}", ("", " "), rows)
        stdout.print()
        marks = [(check.name, "ok" if check.passed else "FAILED", check.measured) for check in found.checks]
        print_table("", ("check", "", "measured"), marks)
        for one in found.suspects[:LISTED]:
            stdout.print(f"  tried: {one.remedy}: {one.gym_return:.1f}", soft_wrap=True)
        stdout.print("\n" + _verdict(found), soft_wrap=True)


def _as_json(found: "Preflight") -> dict[str, Any]:
    culprit = found.culprit
    return asdict(found) | {
        "as_expected": found.as_expected,
        "culprit": asdict(culprit) if culprit else None,
        "verdict": _verdict(found),
        "suspects": [asdict(one) for one in found.suspects[:5]],
    }


def _verdict(found: "Preflight") -> str:
    if found.as_expected:
        return "it does what is expected of it"
    if culprit := found.culprit:
        known = "; its file records that it was trained under VecNormalize" if found.recorded else ""
        return f"likely culprit: {culprit.culprit}; {culprit.remedy}{known}"
    if not found.suspects:
        failed = [check for check in found.checks if not check.passed and check.remedy]
        return "; ".join(f"{check.name}: no, {check.measured}. {check.remedy}" for check in failed[:1])
    best = found.suspects[0]
    return (
        "it does not do what is expected, and none of the usual mistakes explains it: undoing any one of them does not "
        f"bring the return back ({best.gym_return:.1f} at best)"
    )
