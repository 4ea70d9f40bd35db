import cv2
import pytest

from isthmus.cli import main


@pytest.mark.usefixtures("graphics")
def test_a_preview_is_a_page_or_one_picture_by_its_ending(tmp_path, capsys):
    for name in ("page.html", "grid.png"):
        main(["vision", "preview", "table", "--images", "5", "--out", str(tmp_path / name)])
    assert (tmp_path / "page.html").read_text().count("data:image/png") == 5
    picture = cv2.imread(str(tmp_path / "grid.png"))
    main(["vision", "preview", "table", "--images", "4", "--out", str(tmp_path / "row.png")])
    row = cv2.imread(str(tmp_path / "row.png"))
    assert picture.shape == (2 * row.shape[0], row.shape[1], 3)
    assert (picture[: row.shape[0]] == row).all()
    assert f"picture: {tmp_path / 'row.png'}" in capsys.readouterr().out


def test_another_ending_is_refused_before_anything_is_rendered(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["vision", "preview", "table", "--out", str(tmp_path / "grid.gif")])
    assert "a page (.html) or a picture (.png)" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
