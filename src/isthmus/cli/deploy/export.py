"""Export a finished run as a bundle."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from isthmus.cli.arguments import EXPERT, PolicyArgument
from isthmus.cli.output import print_json, stderr, stdout

if TYPE_CHECKING:
    from isthmus.deploy.manifest import Manifest
    from isthmus.transfer import PolicyFile


@dataclass(frozen=True)
class ExportBundle:
    """Export a finished run as a bundle: one folder that has all that the robot's computer needs.

    Example: `isthmus deploy export runs/first --out bundle`

    Example: `isthmus deploy export runs/lamp --task my_robot.py --policy my_policy.zip --out bundle`

    A bundle loads without torch: `isthmus.load_policy("bundle")`, or `isthmus deploy run bundle --robot ADDRESS`.
    Nothing in it is executed.
    """

    run_folder: Positional[Path]
    """Folder of a finished run."""
    out: Path
    """Where to: a new or empty folder."""
    task: str | None = None
    """Robot file that the run was made with. It is Python code and is run; it is not put into the bundle."""
    reference: Annotated[Path | None, arg(name="source")] = None
    """Recorded observations that the run follows, where it was made with --source."""
    source: PolicyArgument = EXPERT
    json: bool = False
    """Print the manifest."""

    def run(self) -> None:
        """Export, and say what is in it."""
        from dataclasses import asdict

        from isthmus.deploy.export import FinishedRun, export_bundle
        from isthmus.transfer import RunFolder
        from isthmus.transfer.result import Result

        folder = RunFolder(self.run_folder)
        run = FinishedRun.load(folder, self.task, self._file())
        with stderr.status("") as status:
            manifest = export_bundle(
                run, self.out, Result.load(folder.result_path), lambda what: status.update(f"writing {what}")
            )
        if self.json:
            print_json(asdict(manifest))
        else:
            _print(self.out, manifest, self.task)

    def _file(self) -> "PolicyFile | None":
        """The policy file or the recording that is named."""
        from isthmus.core import Problem
        from isthmus.transfer import PolicyFile
        from isthmus.transfer.source.reference import is_reference

        if self.reference is None:
            return self.source.file
        if self.source.file is not None:
            raise Problem("--source and --policy exclude each other: name what the run was made with")
        if not is_reference(self.reference):
            raise Problem(
                f"{self.reference} is not a reference file: name the one that the run was made with, which is beside "
                "its folder (RUN.reference.npz) where that was made with a log"
            )
        return PolicyFile(str(self.reference), reference=True)


def _print(out: Path, manifest: "Manifest", task: str | None) -> None:
    adapter, robot = manifest.adapter, manifest.robot
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    chosen = f" ({adapter.chosen})" if adapter.chosen else ""
    lines: list[Any] = [
        f"{out}: {robot.task}, {adapter.method}{chosen}, {len(manifest.files)} files, {size / 1e6:.2g} MB",
        f"a control step takes {adapter.step_us['p50'] / 1e3:.2g} ms here (99 % within "
        f"{adapter.step_us['p99'] / 1e3:.2g} ms); one is due every {1e3 * manifest.world.control_period:g} ms",
    ]
    if adapter.simulates:
        lines.append(f"a step needs the simulator: {adapter.simulates}")
    if adapter.fused:
        lines.append(f"no fused.onnx: {adapter.fused}")
    else:
        checked = adapter.fused_checked_to
        told = "not checked: ONNX Runtime is not installed" if checked is None else f"checked to {checked:.1g}"
        lines.append(f"fused.onnx: a whole step in one graph ({told})")
        lines.append(f"no policy.h: {adapter.header}" if adapter.header else "policy.h: the same in C")
    if robot.outside:
        lines.append(f"{robot.outside}: name it by --task when the bundle is loaded")
    named = f" --task {shlex.quote(task)}" if robot.outside and task else ""
    lines.append(f"try it: isthmus deploy run {out} --robot sim{named}")
    for line in lines:
        stdout.print(line, soft_wrap=True)
