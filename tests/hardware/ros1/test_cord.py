from isthmus.hardware.ros1 import cord
from isthmus.hardware.ros1.bindings import Graph, message
from isthmus.hardware.ros1.cord import ENDS, WORLD, find_cord


def test_a_stand_in_tells_where_its_cord_is_tied(master, robot):
    with robot():
        anchor, arm = find_cord(master)
    assert anchor.link == WORLD
    assert arm.link == "elbow_flex_link"
    assert anchor.point[2] > 0.5


def test_a_robot_without_a_cord_tells_of_none(master, monkeypatch):
    monkeypatch.setattr(cord, "PATIENCE", 0.2)
    assert find_cord(master) == ()


def test_half_a_cord_is_none(master, monkeypatch):
    monkeypatch.setattr(cord, "PATIENCE", 0.5)
    kind = message("geometry_msgs/PointStamped")
    half = Graph(master, "tests").publish(ENDS[0], kind, latch=True)
    half.publish(kind())
    assert find_cord(master) == ()
    half.unregister()
