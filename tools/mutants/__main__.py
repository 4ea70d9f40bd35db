"""Change the numerical code in small ways and see whether its tests notice: `make mutants`.

A mutant is one module with one change: another operator, a dropped term, a flipped comparison, another constant. It is
killed when a test that mirrors the module fails, or takes much longer than it should. A mutant that survives shows what
no test looks at, or a change that makes no difference. Of the mutants of each module, `--sample` are drawn. A campaign
that was stopped goes on from its file.
"""

import argparse
import hashlib
import json
import os
import random
import shlex
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from mutations import Mutant, mutants
from targets import TARGETS
from trials import SURVIVED, Trials, Verdict

from isthmus.core.commit import current_commit

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Run the campaign, print what survives and write all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=30, help="how many mutants of each module to try")
    parser.add_argument("--only", nargs="*", default=[""], help="names of modules, in part")
    parser.add_argument("--again", action="store_true", help="try those that survived again, and no others")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "mutants.json", help="where results are kept")
    asked = parser.parse_args()
    os.chdir(ROOT)
    store = _Store(asked.out.resolve())
    again = store.forget_survivors() if asked.again else set[str]()
    for name in TARGETS:
        if any(part in name for part in asked.only):
            _campaign(name, 0 if asked.again else asked.sample, asked.seed, store, again)
    counts = store.write()
    print(f"{counts['killed']} of {counts['tried']} mutants killed, {counts['survived']} survived; {asked.out}")


def _campaign(name: str, sample: int, seed: int, store: "_Store", again: set[str]) -> None:
    """Try mutants of one module, in a process of its own: what it imports is not there for the next."""
    source = (ROOT / "src" / "isthmus" / f"{name.replace('.', '/')}.py").read_text()
    drawn = list(mutants(source))
    random.Random(f"{seed} {name}").shuffle(drawn)
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    wanted = drawn[:sample] + [mutant for mutant in drawn[sample:] if f"{name}:{mutant.name}" in again]
    left = [mutant for mutant in wanted if not store.has(name, digest, mutant)]
    if not left:
        return
    waiting = iter(left)
    child = os.fork()
    if not child:
        trials = Trials(
            f"isthmus.{name}",
            (mutant.tree for mutant in left),
            lambda verdict: store.add(name, digest, next(waiting), verdict),
        )
        trials.run([str(ROOT / "tests" / one) for one in TARGETS[name]])
        os._exit(not trials.passed_as_it_is)
    _, status = os.waitpid(child, 0)
    store.read()
    if status:
        print(
            f"the tests of {name} do not pass as it is: pytest -n 0 tests/{' tests/'.join(TARGETS[name])}", flush=True
        )


class _Store:
    """Results in a file, which is written after each, with the commands that they are of."""

    def __init__(self, path: Path) -> None:
        """Read what is there."""
        self._path, self._results = path, list[dict[str, Any]]()
        self._commands = list[str]()
        self.read()
        self._commands = list(dict.fromkeys([*self._commands, shlex.join(["tools/mutants", *sys.argv[1:]])]))

    def read(self) -> None:
        """Take over what another process has written."""
        if self._path.exists():
            stored = json.loads(self._path.read_text())
            self._results, self._commands = stored["mutants"], stored.get("commands", self._commands)

    def forget_survivors(self) -> set[str]:
        """Which mutants survived, with their modules; as if they had not been tried."""
        survived = {f"{one['module']}:{one['mutant']}" for one in self._results if one["outcome"] == SURVIVED}
        self._results = [one for one in self._results if one["outcome"] != SURVIVED]
        self.write()
        return survived

    def has(self, module: str, digest: str, mutant: Mutant) -> bool:
        """Whether it was tried in this version of its module."""
        key = module, digest, mutant.name
        return any(key == (one["module"], one["digest"], one["mutant"]) for one in self._results)

    def add(self, module: str, digest: str, mutant: Mutant, verdict: Verdict) -> None:
        """Keep a result, and print it if the mutant survived."""
        if verdict.outcome == SURVIVED:
            print(f"survived: {module}:{mutant.name}", flush=True)
        self._results.append({"module": module, "digest": digest, "mutant": mutant.name, "outcome": verdict.outcome})
        self.write()

    def write(self) -> dict[str, int]:
        """Write all results, and count them."""
        outcomes = [one["outcome"] for one in self._results]
        survived = outcomes.count(SURVIVED)
        counts = {"tried": len(outcomes), "killed": len(outcomes) - survived, "survived": survived}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_name(f".{self._path.name}.partial")
        about = {"commit": current_commit(), "commands": self._commands}
        partial.write_text(json.dumps({**about, **counts, "mutants": self._results}, indent=1) + "\n")
        partial.replace(self._path)
        return counts


main()
