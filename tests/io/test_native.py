import ctypes

import pytest

from isthmus.core import Problem
from isthmus.io import native


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))


def library(tmp_path, code, **settings):
    source = tmp_path / "part.c"
    source.write_text('#include "part.h"\n' + code)
    (tmp_path / "part.h").write_text('#define API __attribute__((visibility("default")))\n#define TIMES 3\n')
    return native.Library("part", (source,), **settings)


def test_a_library_is_compiled_and_called(tmp_path):
    made = native.load(library(tmp_path, "API double thrice(double x) { return TIMES * x; }"))
    made.thrice.restype, made.thrice.argtypes = ctypes.c_double, [ctypes.c_double]
    assert made.thrice(1.5) == 4.5


def test_a_library_is_compiled_once_and_again_when_a_header_or_a_flag_changes(tmp_path):
    part = library(tmp_path, "API int times(void) { return TIMES; }")
    first = native.build(part)
    made = first.stat().st_mtime_ns
    assert native.build(part) == first
    assert first.stat().st_mtime_ns == made
    (tmp_path / "part.h").write_text("#define API\n#define TIMES 4\n")
    assert native.build(part) != first
    assert native.build(library(tmp_path, "API int times(void) { return TIMES; }", flags=("-O1",))) != first


def test_without_a_compiler_the_package_to_install_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(Problem, match="apt install gcc"):
        native.build(library(tmp_path, ""))


def test_a_source_that_does_not_compile_is_a_problem_and_leaves_nothing(tmp_path):
    with pytest.raises(Problem, match=r"could not compile part: .*error"):
        native.build(library(tmp_path, "API int broken( {"))
    assert not list((tmp_path / "cache").iterdir())
