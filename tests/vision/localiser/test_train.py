import json
import shutil
from dataclasses import replace

import cv2
import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import Problem
from isthmus.io import load_arrays
from isthmus.vision.localiser import train as training
from isthmus.vision.localiser.finish import finish
from isthmus.vision.localiser.onnx import load_localiser
from isthmus.vision.localiser.run import torch_localiser, trained_networks
from isthmus.vision.localiser.settings import CHECKPOINT, COARSE, FACTS, TrainSettings, begin, read_settings
from isthmus.vision.localiser.train import Training, train
from isthmus.vision.localiser.weights import KIND
from isthmus.vision.marks import png
from isthmus.vision.randomise import Randomise
from isthmus.vision.stage.scene import SceneFile, read_scene

pytestmark = pytest.mark.usefixtures("graphics")
SMALL = TrainSettings(
    SceneFile("table", "cube"), Randomise(textures=8), images=16, batch=4, widths=(4, 4, 4, 4), seed=1
)


class StopHereError(Exception):
    pass


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that was stopped after two of four batches and then went on, and one that was left alone."""
    patch = pytest.MonkeyPatch()
    patch.setattr(training, "TRIALS", 1)
    patch.setattr(training, "EVERY", 0.0)
    patch.setattr(training, "LOOKS", 2)
    stopped, whole = tmp_path_factory.mktemp("runs") / "stopped", tmp_path_factory.mktemp("runs") / "whole"

    def stop(progress):
        if progress.images == 12:
            raise StopHereError

    with pytest.raises(StopHereError):
        train(SMALL, stopped, 1, 1, stop)
    for folder in (stopped, whole):
        train(SMALL, folder, 1, 1, lambda _: None)
    patch.undo()
    return stopped, whole


def test_a_run_that_was_stopped_ends_like_one_that_was_not(run):
    (one, meta), (other, other_meta) = (load_arrays(folder / CHECKPOINT, KIND) for folder in run)
    assert meta["batches"] == other_meta["batches"] == 4
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert np.array_equal(array, other[name]), name


def test_training_begins_with_the_weights_of_another_localiser(run, tmp_path):
    begun = Training(replace(SMALL, scene=SceneFile("fetch", "cylinder"), start=str(run[1])))
    arrays, _ = load_arrays(run[1] / CHECKPOINT, KIND)
    for name, network in begun.networks.items():
        for key, value in network.state_dict().items():
            assert np.array_equal(value, arrays[f"average/{name}/{key}"])
            assert np.array_equal(value, begun.averages[name].values[key])
    with pytest.raises(Problem, match="no training run of a localiser"):
        train(replace(SMALL, start=str(tmp_path / "none")), tmp_path / "out", 1, 1, lambda _: None)
    assert not (tmp_path / "out").exists()
    with pytest.raises(Problem, match="weights of another network"):
        Training(replace(SMALL, widths=(4, 4, 4, 8), start=str(run[1])))


@pytest.fixture(scope="module")
def finished(run):
    """The folder of a run that has ended, and what was measured."""
    return run[0], *finish(SMALL, run[0], lambda _: None, count=2)


def test_the_localiser_of_a_folder_is_the_network_that_was_trained(finished):
    folder, results, worst = finished
    assert results["images"] == 16
    assert {"alone", "distractors", "occluded"} <= results["renderings"].keys()
    assert len(worst) == 6
    assert [one["images"] for one in results["history"]] == [8, 16]
    localiser, facts = load_localiser(folder)
    coarse, crop, _ = trained_networks(SMALL, folder)
    same = torch_localiser(coarse, crop, SMALL.frame, read_scene(SMALL.scene))
    pictures = np.random.default_rng(0).integers(0, 256, (2, *reversed(SMALL.frame.coarse), 3), np.uint8)
    crops = np.random.default_rng(1).integers(0, 256, (3, SMALL.frame.crop, SMALL.frame.crop, 3), np.uint8)
    assert localiser.coarse(pictures) == pytest.approx(same.coarse(pictures), abs=1e-4)
    for said, wanted in zip(localiser.crop(crops), same.crop(crops), strict=True):
        assert said == pytest.approx(wanted, abs=1e-4)
    assert facts.target.height == pytest.approx(0.93)


def test_training_begins_with_the_networks_of_a_folder_without_a_checkpoint(finished, tmp_path):
    folder = tmp_path / "shipped"
    shutil.copytree(finished[0], folder, ignore=shutil.ignore_patterns(CHECKPOINT))
    begun = Training(replace(SMALL, start=str(folder)))
    arrays, _ = load_arrays(finished[0] / CHECKPOINT, KIND)
    for name, network in begun.networks.items():
        for key, value in network.state_dict().items():
            assert key.endswith("num_batches_tracked") or np.array_equal(value, arrays[f"average/{name}/{key}"])
    content = (folder / COARSE).read_bytes()
    for damaged in (content[:3000], b"not a network"):
        (folder / COARSE).write_bytes(damaged)
        with pytest.raises(Problem, match="not a network of a localiser"):
            Training(replace(SMALL, start=str(folder)))


def test_a_film_stands_for_a_camera(finished, tmp_path, capsys):
    film = str(tmp_path / "film.mp4")
    writer = cv2.VideoWriter(film, cv2.VideoWriter.fourcc(*"mp4v"), 10, (640, 480))
    for shade in (60, 180):
        writer.write(np.full((480, 640, 3), shade, np.uint8))
    writer.release()
    words = ["vision", "locate", str(finished[0]), "camera", "--device", film]
    main([*words, "--frames", "2", "--json"])
    assert [one["picture"] for one in json.loads(capsys.readouterr().out)] == ["frame 0", "frame 1"]
    for more, said in ((["--frames", "3"], "gave 2 of 3 pictures"), (["--device", "/dev/none"], "no camera /dev/none")):
        with pytest.raises(SystemExit) as ended:
            main([*words, *more])
        assert ended.value.code == 2
        assert said in capsys.readouterr().err


def test_locate_prints_a_place_and_how_sure_it_is(finished, tmp_path, capsys):
    folder = finished[0]
    picture = np.random.default_rng(2).integers(0, 256, (480, 640, 3), np.uint8)
    (tmp_path / "picture.png").write_bytes(png(picture))
    main(["vision", "locate", str(folder), str(tmp_path), "--json", "--out", str(tmp_path / "marked")])
    [found] = json.loads(capsys.readouterr().out)
    assert 0 <= found["confidence"] <= 1
    assert found["sure"] == (found["confidence"] >= 0.5)
    assert (tmp_path / "marked" / "picture.png").is_file()
    (tmp_path / "small.png").write_bytes(png(picture[::2, ::2]))
    (tmp_path / "broken.png").write_bytes(png(picture)[:1000])
    for name, said in (("small", "320 x 240 pixels"), ("broken", "not a picture"), ("missing", "cannot read")):
        with pytest.raises(SystemExit) as ended:
            main(["vision", "locate", str(folder), str(tmp_path / f"{name}.png")])
        assert ended.value.code == 2
        assert said in capsys.readouterr().err


def test_damaged_localisers_are_refused(finished, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(finished[0], folder)
    content = (folder / COARSE).read_bytes()
    for damaged in (content[:5000], b"", b"not a network"):
        (folder / COARSE).write_bytes(damaged)
        with pytest.raises(Problem, match=r"not a network|damaged"):
            load_localiser(folder)
    (folder / COARSE).unlink()
    with pytest.raises(Problem, match="is missing"):
        load_localiser(folder)
    (folder / FACTS).write_text('{"kind": "localiser"}')
    with pytest.raises(Problem, match="has no target"):
        load_localiser(folder)


def test_a_folder_of_another_run_is_left_alone(tmp_path):
    begin(tmp_path / "run", SMALL)
    assert read_settings(tmp_path / "run") == SMALL
    with pytest.raises(Problem, match="another run's"):
        begin(tmp_path / "run", TrainSettings(SceneFile("table", "cone")))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    with pytest.raises(Problem, match="not empty"):
        begin(tmp_path / "other", SMALL)
    with pytest.raises(Problem, match="no training run"):
        read_settings(tmp_path)
