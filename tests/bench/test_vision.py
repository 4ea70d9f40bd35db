import pytest

pytest.importorskip("cv2", reason="vision needs OpenCV: pip install 'isthmus[vision]'")

from isthmus.bench import vision


def test_renderings_are_measured_against_mjr_render(monkeypatch):
    if not vision.can_render():
        pytest.skip("nothing can be rendered here")
    monkeypatch.setattr(vision, "IMAGES", 2)
    row = vision.vision_render(2)
    assert row.name == "vision-render"
    assert 0.1 < row.ratio < 1.5
