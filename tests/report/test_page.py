import json
import re

import pytest

from isthmus.report.page import policy, render
from isthmus.report.report import content
from isthmus.report.video import Video

HOSTILE = "</script><script>document.title = 'gone'</script><!-- \u2028 ' \" & <img src=x onerror=alert(1)>"


def block(page):
    return re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)[1]


@pytest.fixture(scope="module")
def parts(run):
    return content(run, Video(text="none"))


def test_data_cannot_leave_its_block(parts):
    page = render(parts | {"figure_data": {"a": HOSTILE}})
    assert json.loads(block(page)) == {"a": HOSTILE}
    assert "<" not in block(page)


def test_text_is_escaped(parts):
    page = render(parts | {"sentence": HOSTILE, "video": Video(text=HOSTILE), "command": [HOSTILE]})
    assert HOSTILE not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 3


def test_what_is_no_number_is_refused_by_the_block(parts):
    with pytest.raises(ValueError, match="JSON compliant"):
        render(parts | {"figure_data": {"a": float("nan")}})


def test_a_missing_part_is_an_error(parts):
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render({name: value for name, value in parts.items() if name != "sentence"})


def test_only_the_page_s_own_scripts_may_run():
    allowed = policy("let a;")
    assert "script-src 'sha256-" in allowed
    assert "default-src 'none'" in allowed
    assert "unsafe-eval" not in allowed
