"""Measure the hot paths."""

from dataclasses import dataclass
from typing import Any

from isthmus.cli.arguments import split_names
from isthmus.cli.output import print_json, print_table


@dataclass(frozen=True)
class Bench:
    """Measure each hot path as a ratio to its physical floor, in the same run.

    Example: `isthmus bench --json`

    Example: `isthmus bench --only estimating control-step`
    """

    repeats: int = 11
    """How often each pair is measured, in turns."""
    only: tuple[str, ...] = ()
    """Measure only what has a name that begins with one of these; everything when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Measure and print."""
        from isthmus.bench import run_benchmarks
        from isthmus.core.commit import current_commit

        made = {"commit": current_commit()}
        rows: list[dict[str, Any]] = [
            one.to_json() | made for one in run_benchmarks(self.repeats, split_names(self.only))
        ]
        if self.json:
            print_json(rows)
            return
        print_table(
            "",
            ("hot path", "ratio ", "+/- ", "goal ", "", "p50 us ", "p99 us ", "worst us ", "against"),
            [
                (
                    r["name"],
                    f"{r['ratio']:.2f}",
                    f"{r['half_iqr']:.2f}",
                    (">= " if r["better"] == "higher" else "<= ") + f"{r['goal']:g}",
                    "ok" if r["meets"] else "MISSED",
                    *(f"{r['step'][name]:,.0f}" if r["step"] else "" for name in ("p50", "p99", "worst")),
                    r["floor"],
                )
                for r in rows
            ],
        )
