import errno
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import zipfile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.io import load_arrays, read_json, remove_partial, save_arrays, write_json, write_whole

OLD, NEW = b"what was there before", b"what comes after" * 100
INTEGERS = st.integers(-(2**63) + 1, 2**63 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def whole(folder):
    """A file of arrays as it should be: its bytes, and what is in it."""
    path = folder / "whole.npz"
    save_arrays(path, {"x": np.arange(6.0).reshape(2, 3), "n": np.array([1, 2])}, {"kind": "thing"})
    return path.read_bytes(), load_arrays(path, "thing")


# Writing


def test_a_file_is_written_with_the_folders_it_needs(tmp_path):
    path = tmp_path / "a" / "b" / "file.bin"
    write_whole(path, NEW)
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def full_disk(*_args, **_kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def half_written(handle, mode):
    file = open(handle, mode)  # noqa: PTH123, SIM115 - a handle, closed by its user

    class Full(io.BufferedIOBase):
        def write(self, content):
            file.write(content[: len(content) // 2])
            file.flush()
            full_disk()

        def close(self):
            file.close()
            super().close()

    return Full()


FAILURES = {
    "write": ("os.fdopen", half_written),
    "fsync": ("os.fsync", full_disk),
    "replace": ("os.replace", full_disk),
    "chmod": ("os.chmod", full_disk),
}


@pytest.mark.parametrize("where", FAILURES)
@pytest.mark.parametrize("existed", [True, False])
def test_a_write_that_fails_leaves_everything_as_it_was(tmp_path, monkeypatch, where, existed):
    path = tmp_path / "file.bin"
    if existed:
        path.write_bytes(OLD)
    with monkeypatch.context() as broken:
        broken.setattr(*FAILURES[where])
        with pytest.raises(Problem, match=r"cannot write .*file\.bin: No space left on device; .* unchanged"):
            write_whole(path, NEW)
    assert [one.name for one in tmp_path.iterdir()] == (["file.bin"] if existed else [])
    assert not existed or path.read_bytes() == OLD


def test_a_write_that_is_interrupted_leaves_everything_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "file.bin"
    path.write_bytes(OLD)

    def interrupt(_handle):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, NEW)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == OLD


def test_what_a_killed_process_left_behind_can_be_removed(tmp_path):
    path = tmp_path / "a" / "file.bin"
    killed = f"""
import os, pathlib, isthmus.io
os.fsync = lambda _: os._exit(9)
isthmus.io.write_whole(pathlib.Path({str(path)!r}), b"new")
"""
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == 9
    other = tmp_path / "a" / "other.bin"
    other.write_bytes(OLD)
    assert len(list(path.parent.iterdir())) == 2
    assert not path.exists()
    remove_partial(tmp_path)
    assert list(path.parent.iterdir()) == [other]


def test_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path, monkeypatch):
    def forbidden(**_kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "mkstemp", forbidden)
    with pytest.raises(Problem, match=r"cannot write .*file\.bin: Permission denied"):
        write_whole(tmp_path / "file.bin", NEW)


def test_a_folder_that_is_a_file_is_a_problem(tmp_path):
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(Problem, match="cannot write"):
        write_whole(tmp_path / "file" / "below.bin", NEW)
    assert (tmp_path / "file").read_bytes() == OLD


def test_a_file_that_is_a_folder_is_a_problem(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(Problem, match="cannot write"):
        write_whole(tmp_path / "folder", NEW)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "file.bin"
    contents = [bytes([letter]) * 200_000 for letter in b"ab"]
    write_whole(path, contents[0])
    seen, stop = set(), threading.Event()

    def read():
        while not stop.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for turn in range(20):
            write_whole(path, contents[turn % 2])
    finally:
        stop.set()
        reader.join()
    assert seen <= set(contents)


# JSON


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_json_comes_back_as_it_was_written(folder, value):
    write_json(folder / "value.json", value)
    assert read_json(folder / "value.json") == value


def test_json_without_a_number_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "value.json", {"score": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is not valid JSON"),
        (b'{"a": 1', "is not valid JSON"),
        (b'{"a": 1} x', "is not valid JSON"),
        (b"\xff\xfe{}", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"9" * 10_000, "is not valid JSON"),
        (b'{"a": ' + b"9" * 400 + b"}", "a whole number of 400 digits is too large"),
        (b'{"a": -9223372036854775808}', "a whole number of 19 digits is too large"),
        (b'{"a": 1e999}', "1e999 is not a finite number"),
        (b'{"a": NaN}', "NaN is not a finite number"),
        (b'{"a": [-Infinity]}', "-Infinity is not a finite number"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "'b' is there twice"),
        (b'{"a": "\\ud800"}', "surrogates not allowed"),
        (b"[1, 2]", "holds a JSON list, expected an object"),
        (b"null", "holds a JSON NoneType, expected an object"),
    ],
)
def test_json_that_is_no_object_is_a_problem_that_names_the_file(tmp_path, content, complaint):
    path = tmp_path / "value.json"
    path.write_bytes(content)
    with pytest.raises(Problem, match=complaint) as caught:
        read_json(path)
    assert str(path) in str(caught.value)


@given(st.binary(max_size=40))
def test_any_bytes_are_an_object_or_a_problem(folder, content):
    path = folder / "bytes.json"
    path.write_bytes(content)
    try:
        assert isinstance(read_json(path), dict)
    except Problem as problem:
        assert str(path) in str(problem)  # noqa: PT017 - both outcomes are right


def test_json_that_is_not_there_or_a_folder_is_a_problem(tmp_path):
    with pytest.raises(Problem, match=r"cannot read .*none\.json: No such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(Problem, match=r"cannot read .*: Is a directory"):
        read_json(tmp_path)


# Arrays


@given(
    st.dictionaries(
        st.text("abcdef_", min_size=1, max_size=6),
        st.tuples(
            st.lists(st.integers(0, 3), max_size=3), st.sampled_from(["<f8", "<f4", "<i8", "|b1"]), st.integers(0, 99)
        ),
        max_size=4,
    ),
    st.dictionaries(st.text(max_size=6), JSON, max_size=3),
)
def test_arrays_come_back_as_they_were_written(folder, shapes, meta):
    arrays = {
        name: np.random.default_rng(seed).normal(size=shape).astype(dtype)
        for name, (shape, dtype, seed) in shapes.items()
    }
    meta |= {"kind": "thing"}
    save_arrays(folder / "arrays.npz", arrays, meta)
    loaded, loaded_meta = load_arrays(folder / "arrays.npz", "thing")
    assert loaded_meta == meta
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)


class Booby:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, trap):
        self.trap = trap

    def __reduce__(self):
        return os.mkdir, (self.trap,)


@pytest.mark.parametrize("form", ["npz", "npz meta", "npy", "pickle"])
def test_code_in_a_file_is_never_run(tmp_path, form):
    trap, path = tmp_path / "trap", tmp_path / "file.npz"
    booby = np.array([Booby(str(trap))], dtype=object)
    with path.open("wb") as file:
        if form == "npz":
            np.savez(file, x=booby, meta=np.array("{}"))
        elif form == "npz meta":
            np.savez(file, meta=booby)
        elif form == "npy":
            np.save(file, booby)
        else:
            pickle.dump(booby, file)
    with pytest.raises(Problem, match="is not a thing file"):
        load_arrays(path, "thing")
    assert not trap.exists()
    loaded = np.load(path, allow_pickle=True)  # the trap does work
    if form.startswith("npz"):
        with loaded:
            loaded["x" if form == "npz" else "meta"]
    assert trap.exists()


def test_a_file_cut_short_anywhere_is_a_problem(folder, whole):
    content, _ = whole
    path = folder / "short.npz"
    for length in (*range(0, len(content) - 50, 5), *range(len(content) - 50, len(content))):
        path.write_bytes(content[:length])
        with pytest.raises(Problem, match=r"short\.npz is not a thing file, or it is damaged"):
            load_arrays(path, "thing")


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3))
@example([(0.0, 1)])
def test_changed_bytes_are_a_problem_or_change_no_number(folder, whole, changes):
    """The names in an archive's directory carry no checksum; the numbers do."""
    content, (arrays, _) = whole
    damaged, path = bytearray(content), folder / "changed.npz"
    for where, change in changes:
        damaged[int(where * len(content))] ^= change
    path.write_bytes(bytes(damaged))
    try:
        loaded, _ = load_arrays(path, "thing")
    except Problem as problem:
        assert str(path) in str(problem)  # noqa: PT017 - both outcomes are right
    else:
        for name in loaded.keys() & arrays.keys():
            np.testing.assert_array_equal(loaded[name], arrays[name])


@given(st.binary(max_size=200))
@example(b"")
@example(b"PK\x03\x04")
@example(b"PK\x05\x06" + bytes(18))
@example(b"\x93NUMPY\x01\x00")
@example(b"\x80\x05.")
def test_any_bytes_are_a_problem(folder, content):
    path = folder / "bytes.npz"
    path.write_bytes(content)
    with pytest.raises(Problem, match=r"bytes\.npz is not a thing file"):
        load_arrays(path, "thing")


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def meta_file(text):
    buffer = io.BytesIO()
    np.savez(buffer, meta=np.array(text))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        archive(),
        archive(meta="{}"),
        archive(text="not an array"),
        meta_file("{"),
        meta_file("[1, 2]"),
        meta_file("null"),
        meta_file("[" * 100_000),
        meta_file([1.0, 2.0]),
    ],
    ids=["empty", "raw meta", "no meta", "broken meta", "list", "null", "deep", "numbers"],
)
def test_an_archive_without_a_description_is_a_problem(tmp_path, content):
    path = tmp_path / "file.npz"
    path.write_bytes(content)
    with pytest.raises(Problem, match=r"file\.npz is not a thing file"):
        load_arrays(path, "thing")


def test_a_file_that_is_not_there_or_a_folder_is_a_problem(tmp_path):
    with pytest.raises(Problem, match=r"there is no thing at .*none\.npz"):
        load_arrays(tmp_path / "none.npz", "thing")
    with pytest.raises(Problem, match="is not a thing file"):
        load_arrays(tmp_path, "thing")


def test_the_description_is_plain_json(whole):
    with np.load(io.BytesIO(whole[0]), allow_pickle=False) as loaded:
        assert json.loads(str(loaded["meta"])) == {"kind": "thing"}


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(st.integers(-60, 180), st.integers(0, 255))
def test_a_changed_byte_in_the_head_of_a_large_array_is_a_problem(tmp_path_factory, where, byte):
    path = tmp_path_factory.mktemp("large") / "x.npz"
    save_arrays(path, {"x": np.zeros((1500, 3))}, {"kind": "k"})
    content = bytearray(path.read_bytes())
    content[content.index(b"x.npy") + where] = byte
    path.write_bytes(bytes(content))
    try:
        arrays, _ = load_arrays(path, "k")
    except Problem as problem:
        assert str(path) in str(problem)  # noqa: PT017 - it may as well be read: some bytes mean nothing
    else:
        assert arrays


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [101, 900])
def test_json_that_is_nested_deeper_than_anything_needs_is_refused(tmp_path, opening, depth):
    closing = {"[": "]", '{"a":': "}"}[opening]
    nested = opening * depth + "1" + closing * depth
    (tmp_path / "deep.json").write_text(f'{{"x": {nested}}}')
    with pytest.raises(Problem, match="nested more than 100 deep"):
        read_json(tmp_path / "deep.json")
    (tmp_path / "flat.json").write_text(f'{{"x": {opening * 98}1{closing * 98}}}')
    assert read_json(tmp_path / "flat.json")


def test_the_description_of_arrays_is_not_nested_without_end(tmp_path):
    np.savez(tmp_path / "deep.npz", meta=np.array('{"kind": "x", "deep": ' + "[" * 900 + "]" * 900 + "}"))
    with pytest.raises(Problem, match="nested more than 100 deep"):
        load_arrays(tmp_path / "deep.npz", "x")


def test_json_is_refused_before_its_tables_take_a_gigabyte(tmp_path):
    (tmp_path / "large.json").write_bytes(b'{"x": "' + b"a" * (8 << 20) + b'"}')
    with pytest.raises(Problem, match="too large"):
        read_json(tmp_path / "large.json")
