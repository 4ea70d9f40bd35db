"""Change the numerical code in small ways and see whether its tests notice: `make mutants`.

A mutant is one module with one change: another operator, a dropped term, a flipped comparison, another constant. It is
killed when a test that mirrors the module fails, or takes much longer than it should. A mutant that survives shows what
no test looks at, or a change that makes no difference. Of all mutants, `--sample` are drawn. A campaign that was
stopped goes on from its file.
"""

import argparse
import hashlib
import json
import os
import random
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from mutations import Mutant, mutants
from targets import TARGETS
from trials import SURVIVED, Verdict, preload, run

from isthmus.core.commit import current_commit

ROOT = Path(__file__).resolve().parents[2]
BASELINE_LIMIT = 600.0
"""Seconds that the tests of a module may take when nothing is changed."""
TIMES, PLUS = 3.0, 20.0
"""A mutant may take so many times as long, and so many seconds more."""


@dataclass(frozen=True)
class Module:
    """A module to be mutated."""

    name: str
    tests: tuple[str, ...]
    source: str

    @staticmethod
    def of(name: str) -> "Module":
        """The module of this name, without the package's own."""
        path = ROOT / "src" / "isthmus" / f"{name.replace('.', '/')}.py"
        return Module(name, tuple(str(ROOT / "tests" / one) for one in TARGETS[name]), path.read_text())

    @cached_property
    def limit(self) -> float:
        """Seconds that the tests may take, by how long they take on the module as it is; there they have to pass."""
        found = run(self.tests, BASELINE_LIMIT)
        if found.outcome != SURVIVED:
            tests = " ".join(self.tests)
            raise SystemExit(f"mutants: the tests of {self.name} do not pass as it is: pytest -n 0 {tests}")
        return TIMES * found.seconds + PLUS

    @property
    def digest(self) -> str:
        """Of its source, so that results of another version are not taken for those of this one."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:12]


def main() -> None:
    """Run the campaign, print what survives and write all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=300, help="how many mutants to try")
    parser.add_argument("--only", nargs="*", default=[""], help="names of modules, in part")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "mutants.json", help="where results are kept")
    asked = parser.parse_args()
    preload(ROOT)
    store = _Store.open(asked.out)
    modules = [Module.of(name) for name in TARGETS if any(part in name for part in asked.only)]
    for module, mutant in _drawn(modules, asked.seed)[: asked.sample]:
        if not store.has(module, mutant):
            name = f"isthmus.{module.name}"
            store.add(module, mutant, run(module.tests, module.limit, name, mutant.tree))
    counts = store.write()
    print(f"{counts['killed']} of {counts['tried']} mutants killed, {counts['survived']} survived; {asked.out}")


def _drawn(modules: list[Module], seed: int) -> list[tuple[Module, Mutant]]:
    """All mutants in a random order, one module after the other."""
    shuffled = list[list[tuple[Module, Mutant]]]()
    for module in modules:
        found = [(module, mutant) for mutant in mutants(module.source)]
        random.Random(f"{seed} {module.name}").shuffle(found)
        shuffled.append(found)
    return [one for row in zip_longest(*shuffled) for one in row if one is not None]


class _Store:
    """Results in a file, which is written after each."""

    def __init__(self, path: Path, results: list[dict[str, Any]]) -> None:
        self._path, self._results = path, results

    @staticmethod
    def open(path: Path) -> "_Store":
        """With the results that are there."""
        return _Store(path, json.loads(path.read_text())["mutants"] if path.exists() else [])

    def has(self, module: Module, mutant: Mutant) -> bool:
        """Whether it was tried in this version of its module."""
        key = module.name, module.digest, mutant.name
        return any(key == (one["module"], one["digest"], one["mutant"]) for one in self._results)

    def add(self, module: Module, mutant: Mutant, verdict: Verdict) -> None:
        """Keep a result, and print it if the mutant survived."""
        if verdict.outcome == SURVIVED:
            print(f"survived: {module.name}:{mutant.name}", flush=True)
        self._results.append(
            {
                "module": module.name,
                "digest": module.digest,
                "mutant": mutant.name,
                "outcome": verdict.outcome,
                "seconds": round(verdict.seconds, 1),
            }
        )
        self.write()

    def write(self) -> dict[str, int]:
        """Write all results, and count them."""
        outcomes = [one["outcome"] for one in self._results]
        counts = {"tried": len(outcomes), "killed": len(outcomes) - outcomes.count(SURVIVED)}
        counts[SURVIVED] = outcomes.count(SURVIVED)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_name(f".{self._path.name}.partial")
        partial.write_text(
            json.dumps({"commit": current_commit(), **counts, "mutants": self._results}, indent=1) + "\n"
        )
        partial.replace(self._path)
        return counts


main()
