import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.vision.stage.scene import SceneFile, read_scene
from isthmus.vision.stage.solids import ROUND, alike, primitive, symmetry

TOP = '<geom name="top" type="box" size=".5 .5 .02" pos="0 0 .08"/>'
SCENE = f"""<mujoco><worldbody>
<camera name="eye" pos="-1 0 1" xyaxes="0 -1 0 .7 0 .7" fovy="50"/>
{TOP}
<body name="mug" pos="0 0 .15"><freejoint/><geom type="cylinder" size=".03 .05"/></body>
<body name="lamp" pos="0 3 0"><geom type="sphere" size=".1"/><body name="bulb"><geom size=".05"/></body></body>
</worldbody></mujoco>"""


def write(tmp_path, text):
    path = tmp_path / "scene.xml"
    path.write_text(text)
    return str(path)


def test_object_table_and_camera_are_found(cube):
    assert cube.table.low == pytest.approx((-1.26, -0.61))
    assert cube.table.z == pytest.approx(0.89)
    assert cube.height == pytest.approx(0.93)
    assert cube.symmetry == 4
    assert cube.radius == pytest.approx(0.04 * np.sqrt(2))
    assert set(cube.loose) == {"cylinder", "cone", "hexagon", "pyramid"}


@pytest.mark.parametrize(("name", "expected"), [("cylinder", ROUND), ("cone", ROUND), ("hexagon", 6), ("pyramid", 4)])
def test_symmetries_of_the_shipped_objects(name, expected):
    assert read_scene(SceneFile("table", name)).symmetry == expected


def test_a_table_is_found_by_the_name_that_is_given(tmp_path):
    scene = read_scene(SceneFile(write(tmp_path, SCENE), "mug", table="top"))
    assert scene.height == pytest.approx(0.10 + 0.05)


@pytest.mark.parametrize(
    ("change", "file", "said"),
    [
        (("", ""), {"target": "cup", "table": "top"}, "unknown object in scene.xml 'cup': choose from bulb, lamp, mug"),
        (("", ""), {"target": "mug"}, "has no table"),
        (("", ""), {"target": "mug", "table": "desk"}, "unknown table in scene.xml 'desk'"),
        (("", ""), {"target": "mug", "table": "top", "camera": "ear"}, "unknown camera in scene.xml 'ear'"),
        (("", ""), {"target": "bulb", "table": "top"}, "part of another body"),
        (('pos="-1 0 1"', 'pos="-1 0 -1"'), {"target": "mug", "table": "top"}, "does not see 'mug'"),
        (('<camera name="eye"', '<camera'), {"target": "mug", "table": "top"}, "has no camera with a name"),
        (
            (TOP, f'<body name="stand">{TOP}</body>'),
            {"target": "stand", "table": "top"},
            "'stand' in .* is the table itself",
        ),
        (("<mujoco>", "<mujoco"), {"target": "mug"}, "not a scene that MuJoCo can read"),
    ],
)  # fmt: skip
def test_bad_scenes_are_refused_in_a_sentence(change, file, said, tmp_path):
    with pytest.raises(Problem, match=said):
        read_scene(SceneFile(write(tmp_path, SCENE.replace(*change)), **file))


def test_a_scene_that_is_not_there_names_those_that_ship():
    with pytest.raises(Problem, match="those that ship \\(fetch, table\\)"):
        read_scene(SceneFile("tabel", "cube"))


def test_solids_that_look_alike():
    box, cylinder = 6, 5
    cube = primitive(box, np.array([0.04, 0.04, 0.04]))
    assert alike(cube, primitive(box, np.array([0.045, 0.036, 0.04])))
    assert not alike(cube, primitive(box, np.array([0.04, 0.04, 0.02])))
    assert not alike(cube, primitive(cylinder, np.array([0.04, 0.04, 0])))
    assert symmetry(primitive(box, np.array([0.02, 0.05, 0.01]))) == 2
