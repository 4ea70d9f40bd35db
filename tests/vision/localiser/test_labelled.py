import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.vision.localiser.labelled import half_width, read_labels


def test_labels_are_read_beside_their_file(tmp_path):
    (tmp_path / "labels.csv").write_text("picture,x,y,z\na.jpg,-0.5,0.25,0.93\n")
    [(path, place)] = read_labels(tmp_path / "labels.csv").items()
    assert path == tmp_path / "a.jpg"
    assert place.tolist() == [-0.5, 0.25, 0.93]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "must be a CSV file with the columns"),
        ("picture,x,y,z\na.jpg,one,2,3\n", "line 2 of .* has no numbers"),
        ("picture,x,y,z\na.jpg,1,2\n", "line 2 of .* has no numbers"),
        ("picture,x,y,z\na.jpg,nan,2,3\n", "not finite"),
        ("picture,x,y,z\n", "has no pictures"),
    ],
)
def test_bad_labels_are_refused(text, said, tmp_path):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(Problem, match=said):
        read_labels(tmp_path / "labels.csv")


def test_half_the_width_is_measured_on_the_table(camera):
    middle = camera.to_plane(camera.centre[None], 0.93)[0]
    distance = np.linalg.norm(middle - camera.position)
    assert half_width(camera, 0.93) == pytest.approx(distance * 320 / camera.focal, rel=0.15)
