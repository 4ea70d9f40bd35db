"""What describes a machine: firmware, its board, its campaign and its twin, and models of actuators."""

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import mutate
import numpy as np
from reader import Reader

from isthmus.actuators import Actuator, Contract, Network, Pd, load_actuator, make_engine
from isthmus.firmware.board import load_board
from isthmus.firmware.campaign import CaseResult, Subject
from isthmus.firmware.campaign_file import NAME, CampaignFile
from isthmus.firmware.elf import read_elf
from isthmus.firmware.engine import board_library
from isthmus.firmware.invariants import Violation
from isthmus.firmware.loop import Loop
from isthmus.firmware.reference import build_reference
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.twin import Twin, load_twin, replayed_ages

SECONDS, WALL_SECONDS = 0.02, 3.0
"""For which a damaged firmware is run: simulated, and at most on the clock on the wall."""
JOINTS = ("hip", "knee")


def machine_readers(folder: Path, wanted: list[str]) -> list[Reader]:
    """Those of `wanted`, with samples in `folder`."""
    machines = folder / "machines"
    machines.mkdir(exist_ok=True)
    makers = {
        "board .toml": _board,
        "firmware .elf": _firmware,
        "firmware campaign .json": _campaign,
        "firmware twin .npz": _twin,
        "actuator model .npz": _actuator,
    }
    return [make(name, machines) for name, make in makers.items() if name in wanted]


def _board(name: str, folder: Path) -> Reader:
    sample = folder / "leg.toml"
    sample.write_text((FOLDER / "leg.toml").read_text())
    return Reader(name, [sample], mutate.plain, load_board)


def _firmware(name: str, folder: Path) -> Reader:
    sample = folder / "reference.elf"
    sample.write_bytes(build_reference(robot="leg").read_bytes())
    board = load_board(FOLDER / "leg.toml")
    board_library()  # compiled now: below there is no compiler

    def read(path: Path) -> object:
        # A fault is told with the source line, by a program of the compiler: here that would count as an event.
        with patch.dict(os.environ, PATH=""), Loop(board, read_elf(path), wall_seconds=WALL_SECONDS) as loop:
            loop.reset(0)
            return loop.run(SECONDS)

    return Reader(name, [sample], mutate.plain, read)


def _campaign(name: str, folder: Path) -> Reader:
    firmware = folder / "any.elf"
    firmware.write_bytes(b"any")
    subject = Subject(load_board(FOLDER / "leg.toml"), firmware, None)
    violation = Violation("torque", 1.25, "hip asks for 31 N m, more than 23", 31.0)
    CampaignFile(folder, subject, 0).add(CaseResult("loss", "frames are lost", 0.4, 2.0, (violation,), "", "loss.html"))

    def read(path: Path) -> object:
        place = folder / "read"
        place.mkdir(exist_ok=True)
        (place / NAME).unlink(missing_ok=True)
        shutil.copyfile(path, place / NAME) if path.is_file() else (place / NAME).symlink_to(path)
        return CampaignFile(place, subject, 0).results

    return Reader(name, [folder / NAME], mutate.jsoned, read, must_refuse=False)


def _twin(name: str, folder: Path) -> Reader:
    sample, rng = folder / "twin.npz", np.random.default_rng(0)
    Twin(JOINTS, 2e-3, rng.uniform(0, 5e-3, (2, 300)), rng.uniform(0, 0.04, (2, 50)), 4e-4, 0.02).save(sample)
    return Reader(name, [sample], mutate.zipped, lambda path: replayed_ages(load_twin(path), n=2, calls=5, seed=0))


def _actuator(name: str, folder: Path) -> Reader:
    limits = (np.full(2, 23.0), np.full(2, 30.0), np.full(2, np.inf))
    terms = Contract(JOINTS, 0.002, (0, 2), 100.0, *limits, np.tile([[-0.5, 0.5], [-9.0, 9.0]], (2, 1, 1)))
    ideal, learned = folder / "pd.npz", folder / "network.npz"
    Actuator(terms, pd=Pd.ideal(np.full(2, 60.0), np.full(2, 1.5)), name="pd").save(ideal)
    rng = np.random.default_rng(0)
    weights = tuple(rng.normal(0, 0.3, size).astype(np.float32) for size in ((4, 8), (8, 1)))
    biases = tuple(np.zeros(size, np.float32) for size in (8, 1))
    Actuator(terms, network=Network(weights, biases), name="network").save(learned)
    return Reader(name, [ideal, learned], mutate.zipped, lambda path: make_engine(load_actuator(path), 2))
