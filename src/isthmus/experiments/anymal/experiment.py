"""ANYmal from log to walk: data of the stand-in, drive models, policies of each arm, walks on the stand-in.

drives/             the models of the drives, and how far each is from the measured torque
cells/, runs/       a file and a folder for each policy: its training, its network and its walks
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from isthmus.actuators import Actuator, load_actuator
from isthmus.core import History, Policy, Problem
from isthmus.core.commit import current_commit
from isthmus.experiments.anymal.drives import Collection, collect, errors, fit_drives, gait_log
from isthmus.experiments.anymal.learner import Settings
from isthmus.experiments.anymal.training import driven_robot, train
from isthmus.experiments.anymal.trials import SimulatedAnymals, Walker, bare_trot, standing, walk
from isthmus.experiments.grid import Cell, Json, Watch, run_grid
from isthmus.experiments.store import CellFiles
from isthmus.io import read_json, write_json
from isthmus.policies.network import NetworkPolicy, read_network
from isthmus.robots.anymal.remote import RemoteAnymals
from isthmus.robots.anymal.task import see_walk

ARMS = {"network": "MLP, dense lags", "fitted": "fitted PD", "ideal": None}
"""What the drives are like in training, by the name of the model; None is the source simulator as it is."""
SECOND = "second"
"""The stand-in that is kept for one final evaluation."""
BARE: dict[str, Walker] = {"trot": bare_trot, "standing": standing}
"""What is walked without a policy."""


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    seeds: int = 3
    walks: int = 96
    """Walks that a policy is judged by, on each robot."""
    steps: int = 1000
    collection: Collection = field(default_factory=Collection)
    settings: Settings = field(default_factory=Settings)
    robot: str = "first"
    """The stand-in that data comes from and policies walk on."""

    @staticmethod
    def quick() -> "Plan":
        """Seconds instead of an hour: it shows that everything runs, and its figures mean nothing."""
        collection = Collection(runs=3, seconds=1.5, hung=1, test_runs=1, test_seconds=1.5, rows=4000, epochs=2)
        settings = Settings(robots=8, steps=8, updates=2, stages=1, hidden=(16,))
        return Plan(seeds=1, walks=3, steps=40, collection=collection, settings=settings)


@dataclass(frozen=True)
class Found:
    """All results there are."""

    drives: Json
    """Errors of the drive models on a held-out sweep, and what they were fitted to."""
    cells: Mapping[str, Json]
    """Results of each policy, by the name of its cell."""


def run(plan: Plan, out: Path, watch: Watch[Json], say: Callable[[str], None], *, workers: int = 1) -> Found:
    """Do what is not done yet in `out`; returns all results."""
    drives = make_drives(plan, out / "drives", say)
    cells = [
        Cell(
            name=f"{arm}, seed {seed}",
            file=f"{arm}-{seed}",
            run=partial(learn_and_walk, plan, arm, seed, out / "drives"),
            settings={"arm": arm, "seed": seed, "plan": _decisive(plan)},
        )
        for seed in range(plan.seeds)
        for arm in ARMS
    ]
    cells += [
        Cell(name=name, file=name, run=partial(walk_bare, plan, name), settings={"arm": name, "plan": _decisive(plan)})
        for name in BARE
    ]
    return Found(drives, run_grid(cells, CellFiles(out, keep_runs=True), watch, workers=workers))


def walk_second(found: Found, plan: Plan, out: Path, say: Callable[[str], None]) -> Found:
    """Walk on the stand-in that is kept for the end, with every policy there is; what was walked before is read."""
    cells: dict[str, Json] = {}
    for file, cell in found.cells.items():
        written = out / "second" / f"{file}.json"
        if not written.exists():
            say(f"second stand-in: {file}")
            walker = BARE[file] if file in BARE else mean_action(trained_policy(_policy_path(out, file)))
            with RemoteAnymals(SECOND, plan.walks, 0) as robots:
                write_json(written, walk(robots, walker, 0, steps=plan.steps).summary())
        cells[file] = {**cell, SECOND: read_json(written)}
    return replace(found, cells=cells)


def _policy_path(out: Path, file: str) -> Path:
    return next(iter(sorted((out / "runs").glob(f"{file}-*/policy.npz"))))


def make_drives(plan: Plan, folder: Path, say: Callable[[str], None]) -> Json:
    """Collect data of the stand-in and fit every model of its drives, unless that was done before."""
    written, settings = folder / "drives.json", _plain(asdict(plan.collection))
    if written.exists():
        stored = read_json(written)
        if stored["settings"] != settings:
            raise Problem(f"{folder} was made with other settings: remove it, or give another --out")
        return stored
    say(f"collecting {plan.collection.collected:g} s of motion on the stand-in")
    fitted, checked, sweep = collect(plan.robot, plan.collection, seed=0)
    say("fitting models of the drives")
    models = fit_drives(fitted, checked, plan.collection, 0, lambda _name, _done: None)
    for name in models:
        models[name].save(model_path(folder, name))
    found = {
        "settings": settings,
        "seconds": fitted.seconds + checked.seconds,
        "torque_std": float(sweep.torque.std()) if sweep.torque is not None else 0.0,
        "sweep": errors(models, sweep),
        "commit": current_commit(),
    }
    write_json(written, found)
    return found


def model_path(folder: Path, name: str) -> Path:
    """The file of a drive model."""
    return folder / f"{name.replace(',', '').replace(' ', '-').replace(chr(39), '')}.npz"


def load_models(folder: Path) -> dict[str, Actuator]:
    """Every drive model by its name."""
    names = read_json(folder / "drives.json")["sweep"]
    return {name: load_actuator(model_path(folder, name)) for name in names}


def learn_and_walk(plan: Plan, arm: str, seed: int, drives: Path, folder: Path) -> Json:
    """Train one policy, and judge its mean action in its own simulation and on the stand-ins."""
    model = ARMS[arm]
    actuator = None if model is None else load_actuator(model_path(drives, model))
    policy = train(actuator, plan.settings, seed, folder, lambda _stage, _means: None)
    walker, walks = mean_action(policy), plan.walks
    own = walk(SimulatedAnymals(driven_robot(actuator), walks), walker, seed, steps=plan.steps).summary()
    found: Json = {"samples": plan.settings.samples, "own": own, "commit": current_commit()}
    with RemoteAnymals(plan.robot, walks, seed) as robots:
        log = robots.log = []
        found[plan.robot] = walk(robots, walker, seed, steps=plan.steps).summary()
        found["gait"] = errors(load_models(drives), gait_log(log))
    return found | {"text": in_words(found[plan.robot])}


def walk_bare(plan: Plan, name: str, _folder: Path) -> Json:
    """Walk without a policy, for comparison."""
    found: Json = {"samples": 0, "commit": current_commit()}
    found["own"] = walk(SimulatedAnymals(driven_robot(None), plan.walks), BARE[name], 0, steps=plan.steps).summary()
    with RemoteAnymals(plan.robot, plan.walks, 0) as robots:
        found[plan.robot] = walk(robots, BARE[name], 0, steps=plan.steps).summary()
    return found | {"text": in_words(found[plan.robot])}


def in_words(walked: Json) -> str:
    """What walks on the stand-in came to."""
    return f"{walked['share']:.0%} of the commanded speed on the stand-in, {walked['falls']:.0%} falls"


def mean_action(policy: Policy) -> Walker:
    """The policy as it is judged: no noise is added to it."""
    return lambda seen: policy(History.of(seen))


def trained_policy(path: Path) -> NetworkPolicy:
    """The policy in a file that training wrote."""
    return NetworkPolicy(read_network(path), see_walk)


def _decisive(plan: Plan) -> Json:
    """All of a plan that decides the result of a policy."""
    return _plain({name: value for name, value in asdict(plan).items() if name != "seeds"})


def _plain(settings: Mapping[str, Any]) -> Json:
    """Settings as JSON gives them back."""
    return json.loads(json.dumps(settings))
