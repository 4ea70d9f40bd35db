"""Train on a stream of renderings; stopped at any time, it goes on where its last checkpoint was."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from isthmus.core import Problem
from isthmus.core.commit import current_commit
from isthmus.core.random import stream_seed
from isthmus.io import read_json, remove_partial, write_json
from isthmus.vision.localiser.evaluate import Trial, make_trials, score, summarise
from isthmus.vision.localiser.losses import Losses, compute_losses
from isthmus.vision.localiser.precision import autocast, resolved
from isthmus.vision.localiser.run import localiser_of, new_networks
from isthmus.vision.localiser.settings import CHECKPOINT, HISTORY, TrainSettings, begin, read_settings
from isthmus.vision.localiser.shipped import localiser_folder
from isthmus.vision.localiser.weights import Average, load_average, load_checkpoint, load_exported, save_checkpoint
from isthmus.vision.stage.scene import read_scene
from isthmus.vision.stream import StreamSpec, open_stream

EVERY = 60.0
"""Seconds between checkpoints."""
LOOKS = 12
"""How often the error is measured while training: its curve against the images seen."""
WARM_UP = 200
"""Steps until the learning rate is at its largest."""
CLIP = 5.0
SMOOTH = 0.02
"""Weight of the newest loss in those that are shown."""
PATIENCE = 20
"""The error is measured again after so many times the duration of the last measurement, at the earliest."""
TRIALS = 16
"""Images of each condition that the curve is measured on."""


@dataclass(frozen=True)
class Progress:
    """How far training is."""

    share: float
    """Of what was asked for, 0 to 1."""
    images: int
    rate: float
    """Images a second."""
    losses: dict[str, float]
    score: dict[str, Any] | None = None
    """The newest measurement, right after it was made."""


class Training:
    """Networks, optimiser and averages of one run."""

    def __init__(self, settings: TrainSettings) -> None:
        """Start from scratch, or from the localiser that the settings name."""
        torch.manual_seed(stream_seed(settings.seed, "vision", "weights") % 2**31)
        coarse, crop = new_networks(settings)
        self.networks: dict[str, torch.nn.Module] = {"coarse": coarse, "crop": crop}
        if settings.start is not None:
            start = localiser_folder(Path(settings.start))
            if (start / CHECKPOINT).is_file():
                load_average(start / CHECKPOINT, self.networks)
            else:
                load_exported(start, self.networks)
        for network in self.networks.values():
            network.to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]
        parameters = [one for network in self.networks.values() for one in network.parameters() if one.requires_grad]
        self.optimiser = torch.optim.AdamW(parameters, settings.rate, weight_decay=1e-4)
        self.averages = {name: Average(network) for name, network in self.networks.items()}
        self.batches, self.seconds = 0, 0.0
        self.processor = 0.0
        """Seconds of processor time, of all processes."""
        self.precision = "float32"
        self.losses = dict[str, float]()
        self.next_look = 0.0
        """Seconds of training before which the error is not measured."""

    def step(self, settings: TrainSettings, losses: Losses, share: float) -> None:
        """Follow the gradient of a batch's losses."""
        rate = (
            settings.rate
            * min(1.0, (self.batches + 1) / WARM_UP)
            * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * share)))
        )
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad()
        losses.total.backward()
        for network in self.networks.values():
            torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        self.optimiser.step()
        self.batches += 1
        for name, network in self.networks.items():
            self.averages[name].update(network, self.batches)
        for name in ("coarse", "crop", "yaw"):
            new: float = getattr(losses, name)
            self.losses[name] = self.losses.get(name, new) * (1 - SMOOTH) + SMOOTH * new

    def save(self, folder: Path) -> None:
        """Write a checkpoint."""
        meta = {
            "batches": self.batches,
            "seconds": self.seconds,
            "processor": self.processor,
            "losses": self.losses,
            "precision": self.precision,
            "commit": current_commit(),
        }
        save_checkpoint(folder / CHECKPOINT, self.networks, self.averages, self.optimiser, meta)

    def load(self, folder: Path) -> None:
        """Go on from a checkpoint, if there is one."""
        if (folder / CHECKPOINT).is_file():
            meta = load_checkpoint(folder / CHECKPOINT, self.networks, self.averages, self.optimiser)
            self.batches, self.seconds = int(meta["batches"]), float(meta["seconds"])
            self.processor = float(meta.get("processor", 0.0))
            self.losses = {name: float(value) for name, value in meta["losses"].items()}


def train(
    settings: TrainSettings, folder: Path, workers: int, threads: int, report: Callable[[Progress], None]
) -> None:
    """Train until the time or the images that the settings ask for are used up."""
    scene = read_scene(settings.scene)
    if settings.start is not None:
        read_settings(Path(settings.start))  # a Problem where there is no localiser, before a folder is made
    folder.mkdir(parents=True, exist_ok=True)
    begin(folder, settings)
    remove_partial(folder)
    torch.set_num_threads(threads)
    run = Training(settings)
    run.load(folder)
    if _share(settings, run) >= 1:
        return
    run.precision = resolved(settings.precision)
    trials = make_trials(settings.scene, settings.randomise, settings.frame, TRIALS, seed=settings.seed + 1)
    spec = StreamSpec(
        settings.scene, settings.randomise, settings.frame, settings.batch, settings.seed, settings.samples
    )
    with open_stream(spec, workers, run.batches) as batches:
        began, before, saved = time.monotonic(), run.seconds, time.monotonic()
        processor = run.processor - time.process_time()
        for batch in batches:
            share = _share(settings, run)
            with autocast(run.precision):
                losses = compute_losses(
                    run.networks["coarse"], run.networks["crop"], batch, settings.frame, scene.symmetry
                )
            if not math.isfinite(float(losses.total.detach())):
                raise Problem(f"training diverged after {run.batches} batches: give a smaller --rate")
            run.step(settings, losses, share)
            run.seconds = before + time.monotonic() - began
            run.processor = processor + time.process_time() + batches.processor_seconds
            images, now = run.batches * settings.batch, _share(settings, run)
            due = now >= 1 or (int(now * LOOKS) > int(share * LOOKS) and run.seconds > run.next_look)
            looked = _look(settings, run, folder, trials) if due else None
            report(Progress(now, images, images / max(run.seconds, 1e-9), run.losses, looked))
            if now >= 1 or time.monotonic() - saved > EVERY:
                run.save(folder)
                saved = time.monotonic()
            if now >= 1:
                return


def _share(settings: TrainSettings, run: Training) -> float:
    if settings.images:
        return min(1.0, run.batches * settings.batch / settings.images)
    return min(1.0, run.seconds / (60 * settings.minutes))


def _look(settings: TrainSettings, run: Training, folder: Path, trials: list[Trial]) -> dict[str, Any]:
    """Measure the error on renderings that are never trained on, and add it to the history."""
    began = time.monotonic()
    localiser = localiser_of(settings, {name: one.values for name, one in run.averages.items()})
    said = summarise(score(localiser, trials), localiser.facts.radius)
    point = {"images": run.batches * settings.batch, "seconds": run.seconds, **said}
    path = folder / HISTORY
    before: list[dict[str, Any]] = read_json(path)["points"] if path.is_file() else []
    points = [one for one in before if one["images"] < point["images"]]
    write_json(path, {"points": [*points, point]})
    run.next_look = run.seconds + PATIENCE * (time.monotonic() - began)
    return point
