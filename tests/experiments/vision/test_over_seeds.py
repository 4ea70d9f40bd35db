import json
import shutil

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.experiments.vision.over_seeds import over_localisers, rows_over
from isthmus.vision.localiser.shipped import SHIPPED


def figures(median, right, seen=3):
    return {
        "half": "test",
        "images": 100,
        "occluded": {"n": 7, "median_cm": median, "mean_cm": 2 * median, "right": right, "sure": 1.0, "yaw": None},
        "bins": list(range(seen)),
    }


def test_figures_are_averaged_over_localisers_with_their_spread():
    found = over_localisers([figures(1.0, 0.5), figures(3.0, 0.9), figures(2.5, 0.7)])
    assert found["occluded"]["median_cm"] == pytest.approx(
        {"mean": 6.5 / 3, "std": np.std([1, 3, 2.5], ddof=1), "least": 1.0, "most": 3.0}
    )
    assert found["images"]["std"] == 0
    assert "yaw" not in found["occluded"]  # a figure that some of them have not
    assert {"half", "bins"}.isdisjoint(found)
    assert rows_over(found, 3) == [("occluded", "7", "3", "2.17 ± 1.04", "4.33 ± 2.08", "0.70 ± 0.20", "1.00 ± 0.00")]


def test_several_localisers_are_scored_by_one_command(tmp_path, capsys):
    shutil.copytree(SHIPPED / "table-cube", tmp_path / "again")
    (tmp_path / "labels.csv").write_text("picture,x,y,z\n")
    with pytest.raises(SystemExit, match="2"):
        main(["vision", "evaluate", "--labels", str(tmp_path / "labels.csv")])
    assert "name a localiser" in capsys.readouterr().err
    blank = np.full((480, 640, 3), 90, np.uint8)
    cv2 = pytest.importorskip("cv2")
    cv2.imwrite(str(tmp_path / "blank.png"), blank)
    (tmp_path / "labels.csv").write_text("picture,x,y,z\nblank.png,-0.9,0.1,0.93\n")
    from isthmus.vision.localiser.onnx import load_localiser

    _, facts = load_localiser(SHIPPED / "table-cube")
    facts.camera.save(tmp_path / "camera.json")
    common = ["--labels", str(tmp_path / "labels.csv"), "--calibration", str(tmp_path / "camera.json"), "--json"]
    main(["vision", "evaluate", str(tmp_path / "again"), *common])
    one = json.loads(capsys.readouterr().out)
    main(["vision", "evaluate", "table-cube", str(tmp_path / "again"), *common])
    both = json.loads(capsys.readouterr().out)
    assert both["over"]["mean_cm"]["mean"] == pytest.approx(one["mean_cm"])
    assert both["over"]["mean_cm"]["std"] == 0
    assert list(both["localisers"]) == ["table-cube", str(tmp_path / "again")]
    assert both["command"].startswith("isthmus vision evaluate table-cube ")
