"""What a blind quadruped's estimators are worth, and which methods carry its policy to a heavier robot with friction.

sweep.json     the policy as it is behind more and more friction, by which the gap is chosen
cells/, runs/  a file for each estimator, and for each transfer, from each seed
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from isthmus.core import Problem, stream
from isthmus.core.commit import current_commit
from isthmus.estimate.estimation import Estimation
from isthmus.evaluate import evaluate
from isthmus.experiments.blind.walks import Walks, estimate_errors
from isthmus.experiments.grid import Cell, Json, Progress, Watch, run_grid, transfer
from isthmus.experiments.store import CellFiles
from isthmus.gaps import Gap
from isthmus.io import read_json, write_json
from isthmus.transfer import Config, PolicyFile, RunFolder, shared_context
from isthmus.transfer.estimation import estimation_of
from isthmus.transfer.result import versions

TASK = "anymal"
SENSORS = ("encoders", "imu")
MEASURED = "none"
"""The estimator of a run whose sensors show everything."""
MASS = 1.2
FRICTIONS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Dry friction of the joints, in N m, of which the least but 0 is taken that costs the policy enough."""
COST = 0.25
"""Share of its score that the policy has to lose behind the gap."""
METHODS = ("model-inverse", "residual-action", "inverse", "correction", "auto")
CONDITIONS: Mapping[str, tuple[str, bool]] = {
    "source simulator": ("none", False),
    "pushed": ("none", True),
    "sensor-noise=0.001": ("sensor-noise=0.001", False),
    "sensor-noise=0.01": ("sensor-noise=0.01", False),
}
"""Where estimators are judged before anything is learned of a target: a gap, and whether robots are pushed."""
EPISODES, SIMULATED_EPISODES = 50, 16
"""Behind a score; fewer for methods that simulate in every step."""


@dataclass(frozen=True)
class Plan:
    """What is run."""

    policy: PolicyFile
    seeds: int = 5
    samples: int = 2000
    methods: tuple[str, ...] = METHODS
    judged: tuple[str, ...] = ("learned", "kalman", "ensemble")
    """Estimators whose errors are measured."""
    crossed: tuple[str, ...] = (MEASURED, "learned")
    """Estimators that the gap is crossed with; `none` is shown the true observation."""
    walks: Walks = field(default_factory=Walks)
    sweep_episodes: int = 32


@dataclass(frozen=True)
class BlindStudy:
    """What was found so far."""

    sweep: Json
    """What the policy loses without adaptation at every friction, and the gap that was chosen."""
    estimators: Sequence[Json]
    crossings: Sequence[Json]


def study_blind(plan: Plan, out: Path, show: Callable[[BlindStudy], None], watch: Watch[Json]) -> BlindStudy:
    """Run what is missing in `out`; what there is so far is shown after every cell."""
    sweep = swept(plan, out / "sweep.json")
    gap = chosen_gap(sweep)
    sweep = sweep | {"gap": gap}
    judged = [_judged(plan, name, gap, seed) for seed in range(plan.seeds) for name in plan.judged]
    crossed = [
        _crossed(plan, method, name, gap, seed)
        for seed in range(plan.seeds)
        for method in plan.methods
        for name in plan.crossed
    ]

    def so_far(found: Mapping[str, Json]) -> BlindStudy:
        there = ([found[cell.file] for cell in cells if cell.file in found] for cells in (judged, crossed))
        return BlindStudy(sweep, *there)

    def seen(progress: Progress[Json]) -> None:
        if progress.found:
            show(so_far(progress.found))
        watch(progress)

    cells = sorted((*judged, *crossed), key=lambda cell: int(cell.settings["seed"]))  # one seed after the other
    return so_far(run_grid(cells, CellFiles(out), seen))


def swept(plan: Plan, path: Path) -> Json:
    """What the policy as it is loses on a heavier robot with more and more friction; read if it is there."""
    settings = {"digest": plan.policy.digest, "episodes": plan.sweep_episodes}
    if path.exists():
        stored = read_json(path)
        if stored["settings"] != settings:
            raise Problem(f"{path} was made with another policy: remove it, or give another --out")
        return stored
    context = shared_context(TASK, plan.policy, 0)
    trial, policy, rng = context.task.trial, context.policy, partial(stream, 0, "blind", "sweep")
    own = evaluate(trial, trial.source(plan.sweep_episodes), policy, 1, rng())
    rows = list[Json]()
    for friction in FRICTIONS:
        text = f"mass={MASS:g},joint-friction={friction:g}" if friction else f"mass={MASS:g}"
        gap = Gap.parse(text).resolve(context.task.robot_model.model)
        found = evaluate(trial, trial.target(gap, plan.sweep_episodes), policy, 1, rng())
        whole = float((found.lengths == context.task.robot_model.spec.horizon).mean())
        rows.append({"gap": text, "score": found.score, "lost": 1 - found.score / own.score, "full_length": whole})
    sweep = {"source": own.score, "rows": rows, "settings": settings, "commit": current_commit()}
    write_json(path, sweep)
    return sweep


def chosen_gap(sweep: Json) -> str:
    """The least friction at which the policy loses enough."""
    found = next((row["gap"] for row in sweep["rows"] if "friction" in row["gap"] and row["lost"] >= COST), None)
    if found is None:
        raise Problem(f"no friction up to {FRICTIONS[-1]:g} N m costs this policy {COST:.0%} of its score")
    return found


def _judged(plan: Plan, name: str, gap: str, seed: int) -> Cell[Json]:
    settings: Json = {"estimator": name, "gap": gap, "seed": seed, "policy": plan.policy.digest}
    settings |= {"walks": asdict(plan.walks), "conditions": list(CONDITIONS)}
    return Cell(
        f"errors of {name}, seed {seed}",
        f"errors-{name}-{seed:03d}",
        partial(judge, plan, name, gap, seed),
        TASK,
        settings,
    )


def judge(plan: Plan, name: str, gap: str, seed: int, _folder: Path) -> Json:
    """Errors of an estimator that knows the source alone, in the source simulator and behind the gap."""
    config = Config(TASK, seed=seed, policy=plan.policy, estimator=name, sensors=SENSORS)
    context = shared_context(TASK, plan.policy, seed)
    estimation = _estimation(config)
    errors = {
        where: estimate_errors(
            context.task, context.policy, estimation.stage, condition, plan.walks, seed, pushed=pushed
        )
        for where, (condition, pushed) in {**CONDITIONS, f"{gap}, not adapted": (gap, False)}.items()
    }
    return {"estimator": name, "seed": seed, "errors": errors, "versions": versions(), "text": _in_words(errors)}


def _crossed(plan: Plan, method: str, name: str, gap: str, seed: int) -> Cell[Json]:
    estimated = name != MEASURED
    simulates = method not in ("inverse", "correction")
    config = Config(
        TASK,
        gap,
        method=method,
        samples=plan.samples,
        seed=seed,
        round_samples=plan.samples,
        evaluation_episodes=SIMULATED_EPISODES if simulates else EPISODES,
        evaluate_rounds=False,
        interim_episodes=True,
        policy=plan.policy,
        estimator=name,
        sensors=SENSORS if estimated else (),
    )
    settings = {name: value for name, value in config.to_json().items() if name != "policy"}
    settings |= {"policy": plan.policy.digest, "walks": asdict(plan.walks)}
    return Cell(
        f"{method}, {name if estimated else 'true observation'}, seed {seed}",
        f"{method}-{name}-{seed:03d}",
        partial(cross, config, plan.walks),
        TASK,
        settings,
    )


def cross(config: Config, walks: Walks, folder: Path) -> Json:
    """One transfer; with an estimator, also its errors behind the gap once it has learned of the target."""
    result = transfer(config, folder)
    found: Json = result.to_json() | {
        "estimator": config.estimator,
        "text": f"{result.normalised_adapted:.2f} of the expert",
    }
    if config.estimator != MEASURED:
        context = shared_context(TASK, config.policy, config.seed)
        estimation, runs = _estimation(config), RunFolder(folder)
        estimation.restore(runs.estimator_path(len(runs.rounds()) - 1))
        found["errors"] = estimate_errors(
            context.task, context.policy, estimation.stage, config.gap, walks, config.seed, pushed=False
        )
    return found


def _estimation(config: Config) -> Estimation:
    estimation = estimation_of(config, shared_context(TASK, config.policy, config.seed))
    if estimation is None:
        raise Problem("an estimator's errors need an estimator and sensors")
    return estimation


def _in_words(errors: Mapping[str, Json]) -> str:
    one = errors["source simulator"]
    return f"{one['velocity']:.3f} m/s and {100 * one['height']:.1f} cm rms in the source simulator"
