"""Try all readers of files on damaged and hostile ones: `make fuzz`.

Every case must be read or refused in one sentence, within 10 s and 1 GB, without running code of the file or using the
network. Exits with code 1 when one was not.
"""

import argparse
import json
import logging
import os
import random
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hostile import hostile, special
from reader import Reader
from samples import HOSTILE, readers
from worker import HANG_SECONDS, MEMORY_MB, Outcome, run

from isthmus.core.commit import current_commit


def main() -> None:
    """Run the campaign and print a table.

    With `--out`, what was done of it at the same commit is not done again, and figures of other readers are kept.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=10_000, help="of the files of each reader")
    parser.add_argument("--only", nargs="*", help="names of readers, in part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON, after each reader")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("isthmus").setLevel(logging.ERROR)
    commit = current_commit()
    what = {
        "mutations": asked.mutations,
        "seed": asked.seed,
        "bounds": {"seconds": HANG_SECONDS, "megabytes": MEMORY_MB},
    }
    done = _before(asked.out, what)
    with tempfile.TemporaryDirectory(prefix="isthmus-fuzz-") as temporary:
        folder = Path(temporary)
        same = {one.reader for one in done if one.commit == commit and not commit.endswith("+changes")}
        for reader in readers(folder, asked.only, same):
            now = _campaign(reader, folder, asked.mutations, asked.seed)
            names = {one.reader for one in now}
            done = [one for one in done if one.reader not in names] + [replace(one, commit=commit) for one in now]
            if asked.out:
                asked.out.write_text(json.dumps(_figures(done, what), indent=2) + "\n")
    faults = sum(outcome.faults for outcome in done)
    print(f"{faults} faults; bounds are {HANG_SECONDS} s and {MEMORY_MB} MB")
    sys.exit(1 if faults else 0)


def _before(out: Path | None, what: dict[str, Any]) -> list[Outcome]:
    """What was done of the same campaign, at any commit."""
    if not out or not out.exists():
        return []
    found: dict[str, Any] = json.loads(out.read_text())
    if any(found.get(name) != value for name, value in what.items()):
        return []
    return [Outcome(**one) for one in found["readers"]]


def _campaign(reader: Reader, folder: Path, mutations: int, seed: int) -> list[Outcome]:
    """The hostile files of a reader, and then mutations of sound ones."""
    suffix, canary = reader.samples[0].suffix, folder / "canary"
    victim = folder / "victim" / reader.samples[0].name
    victim.parent.mkdir(exist_ok=True)
    made = [(name, content) for name, content in hostile(suffix, reader.samples[0].read_bytes(), canary)]
    others = list(special(folder / f"special, {reader.name}", victim.name))
    cases = len(made) + len(others)
    contents = [sample.read_bytes() for sample in reader.samples]

    def hostile_case(number: int) -> tuple[str, Path]:
        if number >= len(made):
            return others[number - len(made)]
        victim.write_bytes(made[number][1])
        return made[number][0], victim

    def mutation(number: int) -> tuple[str, Path]:
        rng = random.Random(f"{seed} {reader.name} {number}")
        victim.write_bytes(reader.mutate(rng.choice(contents), rng))
        return f"mutation {number}", victim

    for sample in reader.samples:
        reader.read(sample)  # sound files are read, or nothing is shown by what is refused
    outcomes = [
        run(f"{reader.name}{HOSTILE}", reader.read, cases, hostile_case, must_refuse=reader.must_refuse),
        run(f"{reader.name}, mutated", reader.read, mutations, mutation, must_refuse=False),
    ]
    if canary.exists():
        outcomes[0].events.append("a file ran a command")
        canary.unlink()
    for outcome in outcomes:
        _show(outcome)
    return outcomes


def _show(outcome: Outcome) -> None:
    print(
        f"{outcome.reader:26} {outcome.cases:6} cases {outcome.read:6} read {outcome.refused:6} refused "
        f"{len(outcome.crashes):4} crashes {len(outcome.hangs):3} hangs {len(outcome.events):3} events "
        f"{outcome.peak_mb:5} MB {outcome.slowest_seconds:5.1f} s slowest {outcome.seconds:7.1f} s",
        flush=True,
    )
    faults = [
        ("crash", outcome.crashes),
        ("hang", outcome.hangs),
        ("event", outcome.events),
        ("read", outcome.not_refused),
    ]
    for kind, cases in faults:
        for case in cases[:8]:
            print(f"    {kind}: {case}")


def _figures(outcomes: list[Outcome], what: dict[str, Any]) -> dict[str, Any]:
    faults = sum(outcome.faults for outcome in outcomes)
    return what | {"faults": faults, "readers": [outcome.to_json() for outcome in outcomes]}


if __name__ == "__main__":
    main()
