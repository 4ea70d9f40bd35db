import base64
import dataclasses
import re
import subprocess

import imageio_ffmpeg
import numpy as np
import pytest

from isthmus.report.storyboard import plan
from isthmus.report.video import backends, film

SIZE = (384, 3 * 384, 3)


@pytest.fixture(scope="module")
def page(filmed):
    text = filmed.report_path.read_text(encoding="utf-8")
    missing = re.search(r'id="no-video">(.*?)</p>', text)
    if missing:
        pytest.skip(missing[1])
    return text


@pytest.fixture(scope="module")
def frames(page, tmp_path_factory):
    """The video in the page, decoded: (frames, height, width, 3)."""
    mp4 = base64.b64decode(re.search(r'src="data:video/mp4;base64,([^"]*)"', page)[1])
    assert len(mp4) < 1_500_000
    path = tmp_path_factory.mktemp("video") / "video.mp4"
    path.write_bytes(mp4)
    decode = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(decode, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    assert len(raw) % np.prod(SIZE) == 0
    return np.frombuffer(raw, np.uint8).reshape(-1, *SIZE)


def test_it_shows_every_moment_of_the_timeline(frames, run):
    assert len(frames) == len(plan(run.traces.values(), run.spec.control_period).steps)


def test_it_plays_by_itself_and_can_be_stopped(page):
    assert "<video controls loop muted autoplay playsinline" in page


def test_each_panel_shows_its_own_policy(frames):
    middle = frames[30].astype(int)
    expert, unadapted, adapted = (middle[96:, column : column + 384] for column in (0, 384, 768))
    assert np.abs(expert - unadapted).max() > 60
    assert np.abs(unadapted - adapted).max() > 60
    assert np.abs(frames[0].astype(int) - middle).max() > 60


def test_all_panels_start_alike_but_for_the_arrow(frames, page):
    expert, unadapted, adapted = (frames[0][6:-6, column : column + 372].astype(int) for column in (6, 390, 774))
    assert np.abs(unadapted - adapted).mean() < 1
    assert "pull of gravity, turned by 90°" in page

    def yellow(panel):
        return ((panel[..., 0] > 180) & (panel[..., 1] > 160) & (panel[..., 2] < 110)).sum()

    assert yellow(expert) == 0
    assert yellow(unadapted) > 100
    assert yellow(adapted) > 100


def test_the_choice_of_the_user_is_the_only_one_tried():
    assert backends({"MUJOCO_GL": "glfw"}, "linux") == ["glfw"]
    assert backends({"MUJOCO_GL": "off"}, "linux") == []


def test_without_a_choice_off_screen_ways_come_first():
    assert backends({}, "linux") == ["egl", "osmesa"]
    assert backends({"DISPLAY": ":0", "MUJOCO_GL": ""}, "linux") == ["egl", "osmesa", "glfw"]
    assert backends({}, "darwin") == [""]


def test_drawing_that_is_turned_off_is_said(finished, run, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "disable")
    video = film(finished, run)
    assert not video.mp4
    assert video.url == ""
    assert "MUJOCO_GL=disable turns drawing off" in video.text


def test_a_way_of_drawing_that_fails_comes_with_advice(finished, run, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "chalk")
    video = film(finished, run)
    assert not video.mp4
    assert "chalk" in video.text
    assert "unset MUJOCO_GL, or install EGL" in video.text
    assert f"isthmus report {finished.path}" in video.text


def test_a_failure_that_has_nothing_to_do_with_the_graphics_says_what_failed(finished, run, drawing):
    blind = dataclasses.replace(run.task, camera={**run.task.camera, "distance": ()})
    video = film(finished, dataclasses.replace(run, task=blind))
    assert not video.mp4
    assert "drawing it failed (IndexError" in video.text
    assert "EGL" not in video.text
