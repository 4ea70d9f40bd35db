import json
import os
import re
import shutil
import subprocess

import pytest

from isthmus.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --disable-dev-shm-usage"
)
ATTACK = "</script><script>document.documentElement.dataset.pwned = 'yes'</script><img src=x onerror=alert(1)>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium to open the page in")


def opened(path, profile):
    """The page as it is once its scripts have run, and what the browser had to say."""
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS.split(),
            f"--user-data-dir={profile}",
            "--enable-logging=stderr",
            "--virtual-time-budget=30000",
            "--dump-dom",
            path.as_uri(),
        ],
        env={**os.environ, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile), "XDG_CACHE_HOME": str(profile)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=True,
    )
    complaints = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return done.stdout, complaints


def assert_in_order(page, complaints):
    root = re.search(r"<html[^>]*>", page)[0]
    charts = re.findall(r'<div class="chart[^>]*>', page)
    assert len(charts) == 7
    assert all('data-drawn="yes"' in chart for chart in charts)
    assert f'data-drawn="{len(charts)}"' in root
    assert len(re.findall(r'<svg class="main-svg"', page)) >= len(charts)
    assert complaints == []
    assert "data-problems" not in root
    assert "data-pwned" not in root


def test_every_chart_is_drawn_and_nothing_complains(filmed, tmp_path):
    assert_in_order(*opened(filmed.report_path, tmp_path / "profile"))


def test_hostile_names_do_not_run(folder, tmp_path):
    result = json.loads(folder.result_path.read_text())
    names = dict.fromkeys(("task", "gap", "method"), ATTACK) | {"versions": {ATTACK: ATTACK}}
    folder.result_path.write_text(json.dumps(result | names))
    assert_in_order(*opened(write_report(folder, video=False), tmp_path / "profile"))
