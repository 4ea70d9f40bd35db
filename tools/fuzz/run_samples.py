"""The files of a run folder, and what reads them: one by one, and all together as commands do."""

import io
import random
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import mutate
from reader import Reader
from samples import MODELS

from isthmus.adapt import MethodSettings, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.settings import FitSettings
from isthmus.evaluate import Trace
from isthmus.experts import load_expert
from isthmus.io import check_tree, load_episode
from isthmus.report.cord import Tie, load_cord, save_cord
from isthmus.report.page import render
from isthmus.report.report import content
from isthmus.report.run import Run
from isthmus.report.video import Video
from isthmus.robots import load_task
from isthmus.transfer import Config, Result, RunFolder, run_transfer
from isthmus.transfer.folder import SHOWN_OF_ROBOT
from isthmus.transfer.logs import logged
from isthmus.transfer.manifest import Manifest
from isthmus.transfer.records import Baseline, Round
from isthmus.transfer.source.source import make_source
from isthmus.transfer.target_steps import TargetSteps

TASK = "reacher"
SETTINGS = MethodSettings(fit=FitSettings(epochs=2))
CONFIG = Config(TASK, "tilt=90", "inverse", samples=100, round_samples=50, evaluation_episodes=50, settings=SETTINGS)
FACTS = {kind: dict.fromkeys(sorted(names), 3.0) for kind, names in SHOWN_OF_ROBOT.items()}


def run_readers(folder: Path, wanted: list[str]) -> Iterator[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    run = _make_run(folder / "run")
    found = [
        Reader("config.json", [run / "config.json"], mutate.jsoned, Config.load),
        Reader("baseline.json", [run / "baseline.json"], mutate.jsoned, Baseline.load),
        Reader("round .json", sorted((run / "rounds").glob("*.json")), mutate.jsoned, Round.load),
        Reader("result.json", [run / "result.json"], mutate.jsoned, Result.load),
        Reader("step.json", [run / "step.json"], mutate.jsoned, _beside(lambda here: RunFolder(here).step_time())),
        Reader(
            "steps.json",
            [run / "steps.json"],
            mutate.jsoned,
            _beside(_steps),
        ),
        Reader("robot.json", [run / "robot.json"], mutate.jsoned, _beside(lambda here: RunFolder(here).robot_parts())),
        Reader("cord.json", [run / "cord.json"], mutate.jsoned, _beside(load_cord)),
        Reader("manifest.json", [run / "manifest.json"], mutate.jsoned, _beside(lambda here: Manifest(here).check())),
        Reader("episode .npz", sorted((run / "episodes").glob("*.npz")), mutate.zipped, load_episode),
        Reader("trace .npz", sorted((run / "traces").glob("*.npz"))[:1], mutate.zipped, Trace.load),
    ]
    bundle = _bundled(run, folder / "run.bundle")
    uses: dict[str, Callable[[Path], object]] = {"report": _report, "logs": _logs, "resume": _resume}
    found += [Reader(f"run folder, {name}", [bundle], whole_run, _unbundled(use)) for name, use in uses.items()]
    yield from (reader for reader in found if reader.name in wanted)
    yield from (_model_reader(method, folder) for method in MODELS if f"{method} model .npz" in wanted)


def _steps(here: Path) -> TargetSteps:
    return TargetSteps.load(RunFolder(here).steps_path)


def _beside(read: Callable[[Path], object]) -> Callable[[Path], object]:
    """A reader that is given the folder, and finds the file by its name."""

    def read_run(path: Path) -> object:
        check_tree(path.parent)  # as every command does
        return read(path.parent)

    return read_run


def _make_run(path: Path) -> Path:
    run = RunFolder(path)
    run_transfer(CONFIG, run)
    run.keep_json(run.steps_path, TargetSteps(100, 50, 30, 7).to_json())
    run.save_robot(FACTS)
    save_cord(path, (Tie("body0", (0.0, 0.1, 0.2)), Tie("body1", (0.0, 0.0, 0.1))))
    return path


def _model_reader(method: str, folder: Path) -> Reader:
    """What a method has learned, read into another method of its kind."""
    task = load_task(TASK)
    samples = 1000 if method == "fine-tune" else 100
    config = Config(TASK, "tilt=90", method, samples, evaluation_episodes=50, settings=SETTINGS)
    run = folder / f"run-{method}"
    run_transfer(config, RunFolder(run), traces=False)
    source = make_source(task, load_expert(task), 0)

    def restore(path: Path) -> None:
        learned = make_method(method, source, SETTINGS)
        learned.restore(MethodState.read(path, learned.kind))
        learned.policy()

    return Reader(f"{method} model .npz", sorted((run / "models").glob("*.npz"))[-1:], mutate.zipped, restore)


def _bundled(run: Path, path: Path) -> Path:
    """A run folder as one file, without its manifest: somebody who means harm makes one that fits, or removes it."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(run.rglob("*")):
            if file.is_file() and file.name not in (".lock", "manifest.json"):
                archive.write(file, file.relative_to(run))
    return path


def whole_run(content: bytes, rng: random.Random) -> bytes:
    """Some files of a run change, or one is missing or takes another's place."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        name = rng.choice(sorted(files))
        kind, harm = name.rpartition(".")[2], rng.random()
        if harm < 0.03:
            del files[name]
        elif harm < 0.1:
            files[name] = files[rng.choice([other for other in sorted(files) if other.endswith(kind)])]
        else:
            files[name] = (mutate.jsoned if kind == "json" else mutate.zipped)(files[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def _unbundled(use: Callable[[Path], object]) -> Callable[[Path], object]:
    """Use a run folder that is in a bundle; what is no bundle is the configuration of a run."""

    def read(path: Path) -> object:
        here = path.parent / "unbundled"
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        if stat.S_ISREG(path.lstat().st_mode) and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(here)
        else:
            path.rename(here / "config.json")
        return use(here)

    return read


def _report(here: Path) -> object:
    """The page, without the video: that is drawn by another program, from models and poses that were checked."""
    folder = RunFolder(here)
    load_cord(here)
    return render(content(Run.load(folder), Video(text="none"), folder.robot_parts()))


def _logs(here: Path) -> object:
    return logged(here, load_task(TASK))


def _resume(here: Path) -> object:
    """Go on with the run as a command does, which has a configuration of its own."""
    folder = RunFolder(here)
    if folder.result_path.exists():
        folder.result_path.unlink()
    return run_transfer(CONFIG, folder, resume=True)
