"""Check a policy before it costs days."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.output import print_json, print_table, stdout


@dataclass(frozen=True)
class Check:
    """Run a policy in its own simulator, and name what is wrong with it: order, sign, scale, normaliser, rate, layout.

    Example: `isthmus check --task hopper --policy ppo_hopper.zip --expect-return 3000`

    Exits with code 1 when the policy does not do what is expected of it.
    """

    task: str
    """The robot and its task: see `isthmus tasks`."""
    policy: Path | None = None
    """The policy: .npz (ours), .zip (Stable-Baselines3) or .onnx; the task's expert when not given."""
    normaliser: Path | None = None
    """VecNormalize statistics (.pkl) that the policy was trained with."""
    layout: str | None = None
    """Gymnasium's version whose observation the policy sees, as in v5, or v3+time with RL Zoo's time feature."""
    trust: bool = False
    """Accept what is otherwise refused because it could run code or take long: ONNX policies that loop or branch."""
    expect_return: float | None = None
    """Return on Gym's own reward that its author claims."""
    episodes: int = 20
    """Episodes behind each figure."""
    seed: int = 0
    """Decides where the episodes start."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Check and print."""
        from dataclasses import asdict

        from isthmus.cli.files import policy_file
        from isthmus.core import Problem
        from isthmus.evaluate.preflight import preflight
        from isthmus.tasks import load_task
        from isthmus.transfer import source_policy

        if self.episodes < 1:
            raise Problem(f"episodes must be at least 1, got {self.episodes}")
        task = load_task(self.task)
        policy = source_policy(task, policy_file(self.policy, self.normaliser, self.layout, trust=self.trust))
        found = preflight(
            task,
            policy,
            bare=None if self.normaliser else policy,
            expected=self.expect_return,
            episodes=self.episodes,
            seed=self.seed,
        )
        culprit = found.culprit
        if self.json:
            figures = asdict(found) | {
                "as_expected": found.as_expected,
                "culprit": asdict(culprit) if culprit else None,
            }
            print_json(figures | {"suspects": [asdict(one) for one in found.suspects[:5]]})
        else:
            rows = [
                ("return, Gym's own reward", f"{found.gym_return:.1f} +/- {found.std:.1f}"),
                ("doing nothing", f"{found.zero:.1f}"),
                ("full-length episodes", f"{found.full_length:.0%}"),
                ("commands beyond the limits", f"{found.saturated:.0%}"),
            ]
            if found.expected is not None:
                rows.insert(1, ("claimed", f"{found.expected:.1f}"))
            print_table(f"{self.task}, {self.policy or 'its expert'}", ("", " "), rows)
            for one in found.suspects[:3]:
                stdout.print(f"  tried: {one.remedy}: {one.gym_return:.1f}", soft_wrap=True)
            stdout.print(
                self._verdict(found.as_expected, culprit.culprit if culprit else "", culprit.remedy if culprit else ""),
                soft_wrap=True,
            )
        if not found.as_expected:
            raise SystemExit(1)

    @staticmethod
    def _verdict(as_expected: bool, culprit: str, remedy: str) -> str:
        if as_expected:
            return "it does what is expected of it"
        if culprit:
            return f"likely culprit: {culprit}; {remedy}"
        return "it does not do what is expected, and none of the usual mistakes explains it"
