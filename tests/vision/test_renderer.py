import hashlib
from dataclasses import replace

import numpy as np
import pytest

from isthmus.vision.camera import Camera
from isthmus.vision.marks import marked_sample
from isthmus.vision.randomise import Randomise
from isthmus.vision.ranges import Range
from isthmus.vision.renderer import Renderer
from isthmus.vision.samples import Frame, camera_of, fold, new_samples
from isthmus.vision.stage.draw import generator
from isthmus.vision.stage.scene import SceneFile
from isthmus.vision.stream import StreamSpec, open_stream
from isthmus.vision.windows import in_crop

pytestmark = pytest.mark.usefixtures("graphics")
WHOLE = Frame(coarse=(640, 480), crops=0)
CLEAN = Randomise(noise=Range(0, 0), blur=Range(0, 0), shadow=0, textures=8)


@pytest.fixture(scope="module")
def renderer(cube):
    with Renderer(cube, CLEAN, WHOLE) as made:
        yield made


def test_the_target_is_where_the_label_says(renderer):
    for index in range(4):
        drawn = renderer.draw(generator(3, index), "alone")
        assert renderer.target_pixels(drawn.camera, alone=True) > 300
        stage = renderer.stage
        with_target = renderer.picture(drawn.camera).astype(int)
        stage.model.geom_rgba[stage.target_geoms, 3] = 0
        renderer._update(drawn.camera)
        changed = np.abs(with_target - renderer.picture(drawn.camera)).sum(axis=2) > 0
        stage.model.geom_rgba[stage.target_geoms, 3] = 1
        y, x = np.nonzero(changed)
        box = np.array([(x.min() + x.max()) / 2, (y.min() + y.max()) / 2]) + 0.5
        inside = np.all((drawn.pixel > 40) & (drawn.pixel < [600, 440]))
        assert not inside or np.linalg.norm(box - drawn.pixel) < 5


def test_a_crop_is_a_part_of_the_whole_picture(cube):
    with Renderer(cube, CLEAN, Frame(coarse=(640, 480), crop=64)) as renderer:
        camera = renderer.draw(generator(0, 5)).camera
        whole = renderer.picture(camera).copy()
        crop = renderer.window(camera, np.array([201.0, 187.0, 64.0]))
        assert np.abs(crop.astype(int) - whole[187:251, 201:265]).mean() < 1.0


def test_occluded_targets_are_hidden_in_part_and_lone_ones_are_not(renderer):
    def seen(index, condition):
        camera = renderer.draw(generator(1, index), condition).camera
        whole = renderer.target_pixels(camera, alone=True)
        return renderer.target_pixels(camera, alone=False) / whole if whole > 100 else None

    lone = [seen(index, "alone") for index in range(4)]
    assert [one for one in lone if one is not None] == pytest.approx([1] * 4)
    hidden = np.array([one for index in range(40) if (one := seen(index, "occluded")) is not None])
    assert np.mean((hidden > 0.25) & (hidden < 0.8)) > 0.35  # one that hides nothing, or all, teaches nothing
    assert np.mean(hidden < 0.1) < 0.15


def test_no_distractor_stands_in_the_target_or_in_another(renderer):
    for index in range(10):
        drawn = renderer.draw(generator(2, index), "distractors")
        places = np.vstack([drawn.position, drawn.distractors])[:, :2]
        apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(places))
        assert apart.min() > 0.02
        assert len(places) > 1


def test_what_is_shown_of_a_rendering_is_marked_where_its_label_is(cube):
    frame = Frame(coarse=(200, 150), crop=40, crops=3)
    out = new_samples(1, frame)
    with Renderer(cube, CLEAN, frame) as renderer:
        renderer.sample(12, out[0])
    out[0]["coarse"] = out[0]["crops"] = 0
    shown = marked_sample(out[0], frame)
    assert shown.shape == (2 * 150 + 80, 400, 3)
    rows, columns = np.nonzero(shown[:300].any(axis=2))
    assert [columns.mean(), rows.mean()] == pytest.approx(out[0]["pixel"] * 400 / 640, abs=1.5)
    rows, columns = np.nonzero(shown[300:, :80].any(axis=2))
    within = in_crop(out[0]["pixel"], out[0]["windows"][0], 80)
    assert [columns.mean(), rows.mean()] == pytest.approx(within, abs=1.5)


def test_labels_describe_the_camera_and_the_turn(cube):
    out = new_samples(1, WHOLE)
    with Renderer(cube, CLEAN, WHOLE) as renderer:
        drawn = renderer.sample(11, out[0])
    camera = camera_of(out[0], WHOLE)
    assert camera.project(drawn.position)[0] == pytest.approx(out[0]["pixel"], abs=1e-3)
    assert isinstance(camera, Camera)
    assert abs(out[0]["turn"]) <= np.pi / 4
    assert fold(np.pi / 2 + 0.1, 4) == pytest.approx(0.1)
    assert fold(1.3, 0) == 0


def test_the_stream_is_the_same_for_any_number_of_processes_and_any_beginning(cube):
    spec = StreamSpec(SceneFile("table", "cube"), Randomise(textures=8), Frame(crop=32), batch=3, seed=4)

    with open_stream(spec, 2, first=1) as batches:
        streamed = [hashlib.sha256(next(batches).tobytes()).hexdigest() for _ in range(3)]
    here = new_samples(3 * spec.batch, spec.frame)
    with Renderer(cube, spec.randomise, spec.frame, seed=spec.seed) as renderer:
        for number, out in enumerate(here):
            renderer.sample(spec.batch + number, out)
    assert streamed == [hashlib.sha256(one.tobytes()).hexdigest() for one in here.reshape(3, spec.batch)]
    assert len(set(streamed)) == 3


def test_pixel_noise_and_exposure_are_within_their_ranges(cube):
    frame = replace(WHOLE, coarse=(64, 48))
    outs = new_samples(2, frame)
    for number, randomise in enumerate((CLEAN, replace(CLEAN, noise=Range(0.05, 0.05)))):
        with Renderer(cube, randomise, frame) as renderer:
            renderer.sample(7, outs[number])
    difference = outs[1]["coarse"].astype(float) - outs[0]["coarse"]
    middle = (outs[0]["coarse"] > 60) & (outs[0]["coarse"] < 195)  # away from black and white, which cut noise off
    assert difference[middle].std() == pytest.approx(0.05 * 255, rel=0.15)
