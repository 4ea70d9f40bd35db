"""The campaign of `make fuzz`, shortened: every hostile policy file, and a few damaged ones."""

import json
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "fuzz"


def test_hostile_and_damaged_policies_are_refused_within_bounds(tmp_path):
    figures = tmp_path / "fuzz.json"
    command = [sys.executable, str(TOOL), "--mutations", "20", "--only", "policy", "normaliser", "--out", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    found = json.loads(figures.read_text())
    assert found["faults"] == 0
    assert [reader["cases"] for reader in found["readers"]][1::2] == [20] * 4
    hostile = found["readers"][::2]
    assert all(reader["cases"] == reader["refused"] > 20 for reader in hostile)
    assert sum(reader["read"] for reader in found["readers"][1::2]) > 5  # some damage does not matter
