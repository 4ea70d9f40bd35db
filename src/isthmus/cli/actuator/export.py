"""Write an actuator model for another simulator or a robot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, stdout


@dataclass(frozen=True)
class Export:
    """Write an actuator model for Isaac Lab, mjlab, ONNX or C, and check it against the model.

    Example: `isthmus actuator export runs/go2/actuator.npz --to isaaclab --out go2.pt`

    A JSON file beside it has the time step, the limits and where the model came from.
    """

    model: Annotated[Positional[Path], arg(metavar="MODEL", help="What `isthmus actuator fit` wrote (.npz).")]
    to: Literal["isaaclab", "mjlab", "onnx", "c"]
    """Whose contract."""
    out: Path | None = None
    """Where to; beside the model when not given."""
    json: bool = False
    """Print what is in the JSON file."""

    def run(self) -> None:
        """Export and print."""
        from isthmus.actuators import load_actuator
        from isthmus.actuators.export import export
        from isthmus.actuators.export.export import ENDINGS

        out = self.out or self.model.with_name(f"{self.model.stem}-{self.to}{ENDINGS[self.to]}")
        notes = export(load_actuator(self.model), self.to, out)
        if self.json:
            print_json(notes)
            return
        stdout.print(
            f"{out}: every {1e3 * notes['dt']:g} ms, checked to {notes['checked_to']:.1g} of the torque scale",
            soft_wrap=True,
        )
        stdout.print(f"{out.with_suffix('.json')}: dt, limits and provenance", soft_wrap=True)
