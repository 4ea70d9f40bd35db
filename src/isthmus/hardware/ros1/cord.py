"""Where a cord is tied to a robot, published for whoever draws it.

A stand-in tells this once, in messages that rviz shows as they are. Only pictures are made of it: whatever adapts has
to find out by itself that something pulls at the arm, and import-linter keeps it from this module.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import Graph, message
from isthmus.hardware.ros1.messages import as_time

ENDS = ("/isthmus/cord/anchor", "/isthmus/cord/arm")
"""One topic for each end of it."""
WORLD = "world"
PATIENCE = 2.0
"""Seconds that a robot has to tell of its cord; one that has none is silent."""


@dataclass(frozen=True)
class Tie:
    """One end of a cord."""

    link: str
    """What it is tied to: a link of the robot, or the world."""
    point: tuple[float, float, float]
    """Where on it, in its own frame, in m."""


def tell_cord(graph: Graph, ties: Iterable[Tie]) -> None:
    """Tell everybody who listens, now or later."""
    for topic, tie in zip(ENDS, ties, strict=True):
        made: Any = message("geometry_msgs/PointStamped")()
        made.header.stamp, made.header.frame_id = as_time(0.0), tie.link  # the frame as it is at any time
        made.point.x, made.point.y, made.point.z = tie.point
        graph.publish(topic, message("geometry_msgs/PointStamped"), latch=True).publish(made)


def find_cord(address: Address) -> tuple[Tie, ...]:
    """Both ends of the robot's cord; empty when it tells of none."""
    graph, ties = Graph(address, "isthmus"), list[Tie]()
    for topic in ENDS:
        heard = graph.hear(topic, message("geometry_msgs/PointStamped"), PATIENCE)
        if heard is None:
            return ()
        ties.append(Tie(str(heard.header.frame_id), (heard.point.x, heard.point.y, heard.point.z)))
    return tuple(ties)
