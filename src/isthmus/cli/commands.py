"""Every command: its name, a line about it, and the group it belongs to."""

from dataclasses import dataclass
from typing import Protocol

from isthmus.cli.actuator.excite import Excite
from isthmus.cli.actuator.export import Export
from isthmus.cli.actuator.fit import Fit
from isthmus.cli.analyse.gap import AnalyseGap
from isthmus.cli.analyse.identify import Identify
from isthmus.cli.analyse.oracle import Oracle
from isthmus.cli.bench import Bench
from isthmus.cli.check import Check
from isthmus.cli.compare import Compare
from isthmus.cli.deploy.export import ExportBundle
from isthmus.cli.deploy.run import RunBundle
from isthmus.cli.experiment.ablation import Ablation
from isthmus.cli.experiment.anymal import Anymal
from isthmus.cli.experiment.blind import Blind
from isthmus.cli.experiment.estimation import Estimation
from isthmus.cli.experiment.firmware_policies import FirmwarePolicies
from isthmus.cli.experiment.firmware_transfer import FirmwareTransfer
from isthmus.cli.experiment.fixed_gaps import FixedGaps
from isthmus.cli.experiment.paper import Paper
from isthmus.cli.experiment.random_gaps import RandomGaps
from isthmus.cli.experiment.references import ReferenceStudy
from isthmus.cli.experiment.seeds import Seeds
from isthmus.cli.experiment.suite import Suite
from isthmus.cli.experiment.transports import Transports
from isthmus.cli.firmware.build import Build
from isthmus.cli.firmware.run import Run
from isthmus.cli.firmware.story import Story
from isthmus.cli.firmware.study import Study
from isthmus.cli.firmware.test import Test
from isthmus.cli.firmware.twin import FitTwin
from isthmus.cli.list import Gaps, Methods, Tasks
from isthmus.cli.logs.inspect import Inspect
from isthmus.cli.logs.map import Map
from isthmus.cli.logs.study import MapStudy
from isthmus.cli.policy.evaluate import Evaluate
from isthmus.cli.policy.record import Record
from isthmus.cli.policy.sensitivity import Sensitivity
from isthmus.cli.policy.train import Train
from isthmus.cli.report import Report
from isthmus.cli.robot.faults import Faults
from isthmus.cli.robot.up import Up
from isthmus.cli.transfer import Transfer
from isthmus.cli.vision.ablate import Ablate
from isthmus.cli.vision.calibrate import Calibrate
from isthmus.cli.vision.evaluate import EvaluateLocaliser
from isthmus.cli.vision.grasp import GraspTrials
from isthmus.cli.vision.locate import Locate
from isthmus.cli.vision.photograph import Photograph
from isthmus.cli.vision.preview import Preview
from isthmus.cli.vision.train import TrainLocaliser


class Command(Protocol):
    """A parsed command: a frozen dataclass whose fields are its options."""

    def run(self) -> None:
        """Do what the command is for."""
        ...


@dataclass(frozen=True)
class Leaf:
    """A command that can be run."""

    summary: str
    options: type[Command]
    """The dataclass whose fields are its options."""


@dataclass(frozen=True)
class Group:
    """Commands with a first word in common."""

    summary: str
    commands: dict[str, Leaf]


SECTIONS: dict[str, dict[str, Leaf | Group]] = {
    "Adapt a policy": {
        "transfer": Leaf("collect on the target, adapt the policy, evaluate, report", Transfer),
        "report": Leaf("build the report page of a run again", Report),
        "compare": Leaf("try every method on one gap and recommend one", Compare),
    },
    "Prepare": {
        "list": Group(
            "show what there is",
            {
                "tasks": Leaf("robots and what they do", Tasks),
                "gaps": Leaf("differences between simulator and target that can be set", Gaps),
                "methods": Leaf("ways to adapt a policy", Methods),
            },
        ),
        "actuator": Group(
            "learn how a robot's drives answer",
            {
                "excite": Leaf("motion to record, within the robot's limits", Excite),
                "fit": Leaf("models of the drives from the robot's logs", Fit),
                "export": Leaf("a model for Isaac Lab, mjlab, ONNX or C", Export),
            },
        ),
        "check": Leaf("check a robot model and its policy in simulation", Check),
        "policy": Group(
            "make and measure policies",
            {
                "train": Leaf("train a policy in the source simulator", Train),
                "evaluate": Leaf("return and score, with or without a gap", Evaluate),
                "sensitivity": Leaf("what each gap costs a policy", Sensitivity),
                "record": Leaf("its observations, as a source without actions", Record),
            },
        ),
    },
    "Understand": {
        "analyse": Group(
            "study a gap",
            {
                "identify": Leaf("physical parameters from recorded steps or logs", Identify),
                "gap": Leaf("where a simulator differs from a robot's logs, and why", AnalyseGap),
                "oracle": Leaf("what one-step action adaptation could reach, given the target's model", Oracle),
            },
        ),
        "logs": Group(
            "read a robot's logs",
            {
                "inspect": Leaf("rates, gaps, clocks and units of what was recorded", Inspect),
                "map": Leaf("which column is which joint, with sign, unit and zero", Map),
                "study": Leaf("how often that is found", MapStudy),
            },
        ),
        "experiment": Group(
            "many transfers",
            {
                "seeds": Leaf("one gap from many seeds", Seeds),
                "random-gaps": Leaf("gaps drawn at random on each robot", RandomGaps),
                "ablation": Leaf("leave out one part of a method at a time", Ablation),
                "estimation": Leaf("cross gaps of noisy, biased and incomplete sensors with an estimator", Estimation),
                "suite": Leaf("how much of a loss is recovered, on calibrated gaps of each robot", Suite),
                "fixed-gaps": Leaf("every method on the same few gaps of each robot", FixedGaps),
                "paper": Leaf("the figures of the paper", Paper),
                "anymal": Leaf("from ANYmal's log to its walk, by an actuator network", Anymal),
                "blind": Leaf("a quadruped that sees encoders, IMU, command and last action", Blind),
                "references": Leaf("recorded observations in place of a policy", ReferenceStudy),
                "transports": Leaf("the Fetch's swing by ROS 1 and by ROS 2", Transports),
                "firmware-policies": Leaf("train with the twin of a firmware and without it", FirmwarePolicies),
                "firmware-transfer": Leaf("adapt to a robot with firmware and weak motors", FirmwareTransfer),
            },
        ),
    },
    "Machines": {
        "deploy": Group(
            "put an adapted policy on a robot",
            {
                "export": Leaf("a finished run as one folder that loads without torch", ExportBundle),
                "run": Leaf("its control loop: guard, watchdog, stop, telemetry, latency", RunBundle),
            },
        ),
        "robot": Group(
            "simulated robots over ROS or UDP",
            {
                "up": Leaf("start one", Up),
                "faults": Leaf("inflict faults on them and check the safety promises", Faults),
            },
        ),
        "firmware": Group(
            "run a robot's own firmware",
            {
                "run": Leaf("run a firmware in lockstep with its robot", Run),
                "test": Leaf("inflict faults on it and check the board's invariants", Test),
                "twin": Leaf("fit what training needs to know of a firmware", FitTwin),
                "study": Leaf("the reference firmware's seeded bugs, and what catches them", Study),
                "story": Leaf("replies taken in order of arrival, while motors reply ever later", Story),
                "build": Leaf("build the reference firmware", Build),
            },
        ),
        "vision": Group(
            "find objects in pictures",
            {
                "preview": Leaf("the randomised images that a localiser is trained on", Preview),
                "train": Leaf("train a localiser, export it, report how well it does", TrainLocaliser),
                "locate": Leaf("where the object is in pictures, and how sure that is", Locate),
                "calibrate": Leaf("a camera's file from table corners or a checkerboard", Calibrate),
                "evaluate": Leaf("score a localiser on path-traced pictures or photographs", EvaluateLocaliser),
                "grasp": Leaf("the Fetch picks the object where a localiser says", GraspTrials),
                "ablate": Leaf("what each randomisation is worth", Ablate),
                "photograph": Leaf("path-traced pictures to choose and judge by", Photograph),
            },
        ),
        "bench": Leaf("measure the hot paths", Bench),
    },
}
COMMANDS: dict[str, Leaf | Group] = {name: one for section in SECTIONS.values() for name, one in section.items()}
LEAVES: dict[tuple[str, ...], Leaf] = {
    words: leaf
    for name, one in COMMANDS.items()
    for words, leaf in (
        [((name,), one)] if isinstance(one, Leaf) else [((name, inner), leaf) for inner, leaf in one.commands.items()]
    )
}
"""Every command that can be run, by its words."""
