"""The blind policy: a teacher that sees everything learns by PPO, and teaches the student by DAgger."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from isthmus.core import stream
from isthmus.core.command import command_of
from isthmus.core.commit import current_commit
from isthmus.experiments.anymal.blind import POLICY, Lessons, teach, write_blind
from isthmus.experiments.anymal.learner import Settings
from isthmus.experiments.anymal.training import train
from isthmus.experiments.grid import Json
from isthmus.experts.assess import assess
from isthmus.gaps import Gap
from isthmus.io import write_json
from isthmus.policies import NetworkPolicy
from isthmus.robots.anymal import make_anymal
from isthmus.transfer import PolicyFile

PROVENANCE = "policy.json"
"""The file beside the policy that says how it was made."""


@dataclass(frozen=True)
class Teaching:
    """How much the teacher practises, and the student learns."""

    seed: int = 0
    teacher: Settings = field(default_factory=Settings)
    student: Lessons = field(default_factory=Lessons)
    judged: int = 100
    """Episodes that both are judged over."""


def teach_blind(folder: Path, teaching: Teaching, say: Callable[[str], None]) -> Path:
    """The policy in `folder`, made if it is not there; stages of the teacher's training that are done are kept."""
    path, about = folder / POLICY, folder / PROVENANCE
    if about.exists() and path.exists():
        return path
    seed = teaching.seed

    def practised(stage: int, means: Mapping[str, float]) -> None:
        say(f"teacher, stage {stage} of {teaching.teacher.stages}: reward {means['reward']:.2f} a step")

    def taught(lesson: int, fell: float) -> None:
        say(f"student, lesson {lesson} of {teaching.student.lessons}: {fell:.0%} of its robots fell")

    teacher = train(None, teaching.teacher, seed, folder / "teacher", practised)
    write_blind(teach(teacher, teaching.student, seed, taught), folder)
    write_json(about, _provenance(teaching, teacher, path))
    return path


def _provenance(teaching: Teaching, teacher: NetworkPolicy, path: Path) -> Json:
    """How the policy was made, and how teacher and student do in the source simulator."""
    task = make_anymal()
    blind = PolicyFile(str(path), observation_spec=str(path.with_suffix(".observation.toml"))).load(task)
    judged = {
        name: assess(task, one, Gap.parse("none"), teaching.judged, stream(teaching.seed, "expert", "evaluate"))
        for name, one in (("teacher", teacher), ("student", blind))
    }
    return {
        "task": task.name,
        "algorithm": "DAgger, taught by a policy that sees everything and was trained by PPO",
        "command": command_of(("experiment", "blind"), {"teach": True, "seed": teaching.seed}),
        "settings": asdict(teaching),
        "evaluation": judged,
        "commit": current_commit(),
    }
