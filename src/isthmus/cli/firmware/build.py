"""Build the reference firmware."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import UseAppendAction

from isthmus.cli.output import print_table, stdout
from isthmus.core import Problem, unknown_name


@dataclass(frozen=True)
class Build:
    """Build the reference firmware, perhaps with a bug in it, with arm-none-eabi-gcc.

    Example: `isthmus firmware build --out reference.elf`

    Example: `isthmus firmware build --bug arrival-order --out broken.elf`

    Example: `isthmus firmware build --linux --out robot_daemon`
    """

    robot: str = "quadruped"
    """quadruped, or leg: one of its legs."""
    bug: UseAppendAction[tuple[str, ...]] = ()
    """Bugs to build in; --bugs lists them."""
    bugs: bool = False
    """Only list the bugs there are."""
    linux: bool = False
    """Build it as a Linux program (SocketCAN, i2c-dev, POSIX threads) with this computer's compiler; its board file,
    OUT.toml, is put beside it."""
    out: Path = Path("reference.elf")
    """Where to write the ELF."""

    def run(self) -> None:
        """Build and copy."""
        from isthmus.firmware.reference import BUGS, build_reference
        from isthmus.firmware.robot import NAMED
        from isthmus.io import write_whole

        if self.bugs:
            print_table("", ("bug", "what it does"), BUGS.items())
            return
        if self.linux:
            from isthmus.firmware.daemon_build import build_daemon

            if self.bug or self.robot != "quadruped":
                raise Problem("--linux builds the quadruped's daemon without bugs: leave --bug and --robot out")
            stdout.print(f"{self.out}, board file {build_daemon(self.out)}", soft_wrap=True)
            return
        if self.robot not in NAMED:
            raise unknown_name("robot", self.robot, NAMED)
        built = build_reference(self.bug, self.robot)
        write_whole(self.out, built.read_bytes())
        stdout.print(f"{self.out}", soft_wrap=True)
