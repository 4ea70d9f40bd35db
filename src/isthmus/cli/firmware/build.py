"""Build the reference firmware."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from isthmus.cli.output import print_table, stdout
from isthmus.core import unknown_name


@dataclass(frozen=True)
class Build:
    """Build the reference firmware, perhaps with a bug in it, with arm-none-eabi-gcc.

    Example: `isthmus firmware build --out reference.elf`

    Example: `isthmus firmware build --bug arrival-order --out broken.elf`
    """

    robot: str = "quadruped"
    """quadruped, or leg: one of its legs."""
    bug: tuple[str, ...] = ()
    """Bugs to build in; --bugs lists them."""
    bugs: bool = False
    """Only list the bugs there are."""
    out: Path = Path("reference.elf")
    """Where to write the ELF."""

    def run(self) -> None:
        """Build and copy."""
        from isthmus.firmware.reference import BUGS, build_reference
        from isthmus.firmware.robot import NAMED

        if self.bugs:
            print_table("", ("bug", "what it does"), BUGS.items())
            return
        if self.robot not in NAMED:
            raise unknown_name("robot", self.robot, NAMED)
        built = build_reference(self.bug, self.robot)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, self.out)
        stdout.print(f"{self.out}", soft_wrap=True)
