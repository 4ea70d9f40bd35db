import json
import os
import zipfile

import pytest

from isthmus.policies.sb3 import trained_normalised


@pytest.mark.parametrize("normalised", [True, False])
def test_training_under_vec_normalize_is_recorded_by_sb3(tmp_path, normalised):
    pytest.importorskip("stable_baselines3")
    import gymnasium
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    env = DummyVecEnv([lambda: gymnasium.make("Pendulum-v1")])
    model = PPO("MlpPolicy", VecNormalize(env) if normalised else env, n_steps=8, batch_size=8, device="cpu", seed=0)
    model.learn(8)
    model.save(tmp_path / "policy.zip")
    assert trained_normalised(tmp_path / "policy.zip") == normalised


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"_last_original_obs": null}', b"[" * 100_000])
def test_a_zip_that_records_nothing_records_no_normaliser(tmp_path, content):
    with zipfile.ZipFile(tmp_path / "odd.zip", "w") as archive:
        archive.writestr("data", content)
    assert not trained_normalised(tmp_path / "odd.zip")


def test_another_file_records_nothing(tmp_path):
    (tmp_path / "policy.onnx").write_bytes(json.dumps({"_last_original_obs": 1}).encode())
    assert not trained_normalised(tmp_path / "policy.onnx")
    assert not trained_normalised(tmp_path / "none.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_zip_with_a_damaged_record_records_nothing(tmp_path, method):
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("data", json.dumps({"_last_original_obs": list(range(100))}))
    content = bytearray(path.read_bytes())
    content[60:80] = b"\xff" * 20
    path.write_bytes(content)
    assert not trained_normalised(path)


def test_a_pipe_records_nothing_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "policy.zip")
    assert not trained_normalised(tmp_path / "policy.zip")
