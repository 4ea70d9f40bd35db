"""The robot's parameters are its own: no other file of ours names them."""

from pathlib import Path

import isthmus

ROOT = Path(isthmus.__file__).parent


def test_nobody_else_reads_the_drawn_parameters():
    for file in ROOT.rglob("*.py"):
        if "standin" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert "drawn" not in text or "first.json" not in text, file
            assert "from isthmus.robots.fetch.standin" not in text, file
            assert "import isthmus.robots.fetch.standin" not in text, file
