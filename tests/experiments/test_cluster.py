import os
import secrets
import signal
import sys
import tempfile
import threading
import warnings
from functools import partial

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.experiments.grid import Cell, RunFolders, run_grid, transfer
from isthmus.experiments.pool import run_all
from isthmus.transfer import Config


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A Ray cluster of two workers on this machine, and its address."""
    ray = pytest.importorskip("ray")
    (tmp_path / "token").write_text(secrets.token_hex(32))  # its own, where Ray would leave one in the user's home
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as own:
        warnings.simplefilter("ignore")  # Ray's own
        # A short name: Ray puts sockets there, whose names must have less than 108 letters.
        options = {"include_dashboard": False, "log_to_driver": False, "_temp_dir": own}
        context = ray.init(num_cpus=2, object_store_memory=2**27, **options)
        yield context.address_info["gcs_address"]
        ray.shutdown()


def run(folder, settings, **how):
    tiny = {"samples": 90, "round_samples": 30, "evaluation_episodes": 50, "settings": settings}
    cells = [
        Cell(
            f"cell {seed}",
            f"{seed}",
            partial(transfer, Config("reacher", "tilt=90", "residual-action", seed=seed, **tiny)),
        )
        for seed in range(3)
    ]
    found = run_grid(cells, RunFolders(folder), lambda _progress: None, **how)
    return {file: result.to_json() | {"seconds": 0} for file, result in found.items()}


def test_a_cluster_comes_to_the_same_results_with_a_worker_killed_in_the_middle(cluster, tmp_path, holders, eventually):
    settings, killed = MethodSettings(fit=FitSettings(epochs=2)), []

    def kill():
        eventually((tmp_path / "ray" / "0" / "baseline.json").exists)
        killed.append(holders(tmp_path / "ray" / "0")[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    on_ray = run(tmp_path / "ray", settings, workers=1, ray=cluster)
    killer.join()
    assert killed
    assert killed[0] != os.getpid()
    assert on_ray == run(tmp_path / "pool", settings, workers=2)
    (tmp_path / "refused").mkdir()
    (tmp_path / "refused" / "1").write_text("precious")
    with pytest.raises(Problem, match=r"^cell 1: .*/1 is a file: give the name of a folder$"):
        run(tmp_path / "refused", settings, workers=1, ray=cluster)


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Problem, match=r"pip install 'isthmus\[ray\]'"):
        run_all([], str, print, workers=1, ray="auto")


def test_an_address_where_nobody_is_is_refused_at_once():
    pytest.importorskip("ray")
    with pytest.raises(Problem, match=r"no Ray cluster answers at '127\.0\.0\.1:9'"):
        run_all([], str, print, workers=1, ray="127.0.0.1:9")
