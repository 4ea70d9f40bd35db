import json
import re
from html.parser import HTMLParser

import pytest

from isthmus.core import Problem
from isthmus.report import write_report

LOADS = ("src", "href", "srcset", "poster", "action", "data", "xlink:href", "background")


class Page(HTMLParser):
    """What a browser would load, show and run."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.scripts, self.styles, self.tags, self.text = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in LOADS]
        self.styles += [value for name, value in attributes if name == "style"]

    def handle_data(self, data):
        where = {"script": self.scripts, "style": self.styles}.get(self.tags[-1] if self.tags else "", self.text)
        where.append(data)


def test_the_page_needs_nothing_else(folder):
    path = write_report(folder, video=False)
    assert path == folder.report_path
    page = Page(path.read_text(encoding="utf-8"))
    assert page.addresses == []
    assert not any("url(" in style or "@import" in style for style in page.styles)
    assert not {"link", "iframe", "object", "embed", "img"} & set(page.tags)
    assert page.tags.count("script") == 3


def test_the_page_tells_what_happened_in_order(folder, run):
    text = write_report(folder, video=False).read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", text) == [
        "The three policies at work",
        "How hard the actuators work",
        "Learning curve",
        "Tracking error",
        "Action corrections",
        "Data coverage",
        "Fit of the inverse model",
        "Repeat this run",
        "What next",
    ]
    assert "<span>--round-samples</span> <span>50</span>" in text
    assert "This report was written without a video." in text
    assert "<video" not in text
    for name in run.spec.action_names:
        assert f"<h3>{name}:" in text
    assert text.count('<p class="reading">') == 6


def test_a_page_is_written_where_nothing_can_be_drawn(folder, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "disable")
    text = write_report(folder).read_text(encoding="utf-8")
    assert "There is no video" in text
    assert "<video" not in text


def test_names_in_the_run_s_files_are_shown_and_not_obeyed(folder):
    hostile = "</title><script>alert(1)</script>"
    result = json.loads(folder.result_path.read_text())
    names = {"task": hostile, "gap": hostile, "method": hostile, "versions": {hostile: hostile}}
    folder.result_path.write_text(json.dumps(result | names))
    text = write_report(folder, video=False).read_text(encoding="utf-8")
    assert hostile not in text
    assert text.count("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;") == 7


def test_a_run_without_samples_has_a_page_too(finished, tmp_path):
    from isthmus.transfer import Config, RunFolder, run_transfer

    folder = RunFolder(tmp_path / "run")
    run_transfer(Config(task="reacher", gap="tilt=90", method="unadapted", evaluation_episodes=50), folder)
    text = write_report(folder, video=False).read_text(encoding="utf-8")
    assert "No target samples were taken" in text
    assert "nothing was adapted and no target sample was taken" in text
    assert "Not adapted, on the target" in text
    assert 'id="coverage"' in text


def test_an_unfinished_run_has_no_page(folder):
    folder.result_path.unlink()
    with pytest.raises(Problem, match="finish it with --resume"):
        write_report(folder, video=False)
    assert not folder.report_path.exists()


def test_writing_again_gives_the_same_page(folder):
    first = write_report(folder, video=False).read_bytes()
    assert write_report(folder, video=False).read_bytes() == first
