"""docs/architecture.md says what the code does: its diagram, and the way of one run through the packages."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

from isthmus.cli.main import main

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("diagram", ROOT / "tools" / "diagram.py")
diagram = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(diagram)
PAGE = diagram.PAGE.read_text(encoding="utf-8")
BUILDING = ("<module>", "<lambda>", "<genexpr>", "__init__", "__post_init__")
"""Code that only builds values: settings are made by whoever hands them down."""


def test_the_diagram_is_the_import_graph():
    assert diagram.differences(PAGE) == []


def test_a_missing_arrow_and_one_too_many_are_found():
    wrong = PAGE.replace("    adapt --> policies & sysid\n", "    adapt --> policies & report\n")
    assert wrong != PAGE
    assert [line.split(",")[0] for line in diagram.differences(wrong)] == [
        "missing: adapt --> sysid",
        "too many: adapt --> report",
    ]


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """In which order one run enters the packages, and from where."""
    found = {}  # from when the command runs: its options were made before
    packages = {}  # of each piece of code: a run makes millions of calls

    def package(frame):
        if frame.f_code not in packages:
            name = frame.f_globals.get("__name__", "")
            packages[frame.f_code] = name.split(".")[1] if name.startswith("isthmus.") else None
        return packages[frame.f_code]

    def look(frame, event, _argument):
        if event != "call" or (not found and frame.f_code.co_qualname != "Transfer.run"):
            return
        entered = package(frame)
        if entered is None or entered in found or frame.f_code.co_name in BUILDING:
            return
        callers, back = [], frame.f_back
        while back is not None:
            if back.f_code.co_name == "<module>" and package(back):
                return  # a module that is being imported
            callers.append(package(back))
            back = back.f_back
        found[entered] = next((one for one in callers if one not in (None, entered)), "")

    folder = tmp_path_factory.mktemp("walk") / "run"
    options = ["--samples", "20", "--evaluation-episodes", "16", "--no-video", "--json", "--out", str(folder)]
    sys.setprofile(look)
    try:
        main(["transfer", "hopper", "--gap", "gravity=1.2", *options])
    finally:
        sys.setprofile(None)
    assert json.loads((folder / "result.json").read_text())["samples"] == 20
    return found


def test_a_run_goes_down_the_diagram(visits):
    graph = diagram.drawn(PAGE)
    assert visits["cli"] == ""
    for package, caller in visits.items():
        if package == "cli":
            continue
        assert package in diagram.below(graph, caller), f"{package} is entered from {caller}"


def test_the_page_lists_the_packages_in_the_order_of_a_run(visits):
    listed = re.findall(r"^\d+\. `(\w+)`", PAGE, re.MULTILINE)
    assert listed == ["cli", *(one for one in visits if one != "cli")]


def test_every_package_is_in_the_diagram():
    folders = {path.parent.name for path in (ROOT / "src" / "isthmus").glob("*/__init__.py")}
    graph = diagram.drawn(PAGE)
    assert folders == set(graph) | {head for heads in graph.values() for head in heads}
