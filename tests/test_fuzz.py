"""The campaign of `make fuzz`, shortened: every hostile policy file, and a few damaged ones."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "fuzz"


def test_hostile_and_damaged_policies_are_refused_within_bounds(tmp_path):
    figures = tmp_path / "fuzz.json"
    command = [
        sys.executable,
        str(TOOL),
        "--mutations",
        "20",
        "--only",
        "policy",
        "normaliser",
        "--out",
        str(figures),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    found = json.loads(figures.read_text())
    assert found["faults"] == 0
    assert [reader["cases"] for reader in found["readers"]][1::2] == [20] * 5
    hostile = found["readers"][::2]
    assert all(reader["cases"] == reader["refused"] > 20 for reader in hostile)
    assert sum(reader["read"] for reader in found["readers"][1::2]) > 5  # some damage does not matter


@pytest.fixture
def worker():
    """What judges a reader."""
    spec = importlib.util.spec_from_file_location("fuzz_worker", TOOL / "worker.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def process():
    """Starts Python on some code, and ends it after the test."""
    begun = []

    def begin(code):
        command = [sys.executable, "-c", f"print(1, flush=True)\n{code}"]
        begun.append(subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True))
        begun[-1].stdout.readline()
        return begun[-1].pid

    yield begin
    for one in begun:
        os.killpg(one.pid, signal.SIGKILL)
        one.communicate()


def test_a_process_that_waits_for_the_processor_does_not_hang_however_long(worker, process, monkeypatch):
    patience = worker.Patience(process("while True: pass"))
    monkeypatch.setattr(worker, "HANG_SECONDS", 1000)
    assert {patience.verdict() for _ in range(10 * worker.ASLEEP_SECONDS)} == {""}


def test_a_process_hangs_that_computes_for_too_long(worker, process, monkeypatch):
    monkeypatch.setattr(worker, "HANG_SECONDS", 0.1)
    patience = worker.Patience(process("while True: pass"))
    while not (verdict := patience.verdict()):
        time.sleep(0.01)
    assert verdict.endswith("s of computing")


def test_what_a_child_computes_counts(worker, process, monkeypatch):
    monkeypatch.setattr(worker, "HANG_SECONDS", 0.1)
    patience = worker.Patience(process("import os\nif os.fork(): os.wait()\nwhile True: pass"))
    while not (verdict := patience.verdict()):
        time.sleep(0.01)
    assert verdict.endswith("s of computing")


def test_a_process_hangs_that_waits_for_what_never_comes(worker, process, monkeypatch):
    patience = worker.Patience(process("import time\ntime.sleep(1000)"))
    monkeypatch.setattr(worker, "ASLEEP_SECONDS", 3)
    assert patience.verdict() == ""
    while not (verdict := patience.verdict()):
        time.sleep(0.1)  # it has to come up first
    assert verdict.startswith("asleep for")
