"""What a run in the loop leaves behind: one row a physics step."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int


@dataclass(frozen=True)
class Record:
    """T physics steps of a robot with J joints."""

    time: Float
    """At the end of each step (T,), seconds since power-on."""
    instructions: Int
    """Executed in each step (T,)."""
    torque: Float
    """What the motors exert (T, J)."""
    asked: Float
    """What the last command asks for, before strength and limit (T, J)."""
    command_age: Float
    """Seconds since a motor last heard a command (T, J); NaN before the first."""
    sample_age: Float
    """Seconds since the newest sample was taken that the firmware has (T, J); NaN before the first."""
    command_gap: Float
    """The longest time between two commands so far (T, J)."""
    qpos: Float
    qvel: Float
    watch: dict[str, Float]
    """Variables of the firmware (T, count)."""
    telemetry_time: Float
    """When the newest telemetry was complete at the host (T,), seconds; all telemetry is NaN before the first."""
    telemetry_attitude: Float
    """The firmware's own estimate (T, 4), w first."""
    telemetry_estop: Float
    """Why the firmware says it has stopped (T,)."""
    telemetry_position: Float
    """What the firmware takes the joints' positions for (T, J)."""
    telemetry_velocity: Float
    """And their velocities (T, J)."""
    truth_attitude: Float
    """Of the trunk (T, 4), w first: of the physics, or of the turntable; NaN where there is neither."""

    def __len__(self) -> int:
        """How many physics steps."""
        return len(self.time)

    @staticmethod
    def of(rows: Float, joints: int, nq: int, nv: int, watch: dict[str, int], heard: Float, truth: Float) -> "Record":
        """From the rows (T, width) that `native/lockstep.c` writes, and telemetry (T, 6 + 2 J)."""
        parts = np.split(rows, np.cumsum([1, 1, *[joints] * 5, nq, nv, *watch.values()])[:-1], axis=1)
        time, instructions, torque, asked, age, sample, gap, qpos, qvel = parts[:9]
        watched = dict(zip(watch, parts[9:], strict=True))
        count = instructions[:, 0].astype(np.int64)
        told = (heard[:, 0], heard[:, 1:5], heard[:, 5], heard[:, 6 : 6 + joints], heard[:, 6 + joints :])
        return Record(time[:, 0], count, torque, asked, age, sample, gap, qpos, qvel, watched, *told, truth)


def joined(records: list[Record]) -> Record:
    """Several runs of one loop after each other."""
    names = [name for name in Record.__dataclass_fields__ if name != "watch"]
    watch = {key: np.concatenate([one.watch[key] for one in records]) for key in records[0].watch}
    return Record(**{name: np.concatenate([getattr(one, name) for one in records]) for name in names}, watch=watch)
