import os
import socket
import threading

import pytest

from isthmus.core import Problem
from isthmus.io import check_tree, open_lock, open_regular, read_json, read_regular

KINDS = ["link", "broken link", "pipe", "device link", "socket"]


def make(path, kind):
    """Put something that is no regular file at `path`; returns what must be left as it is."""
    precious = path.parent.parent / f"precious-{path.name}"
    precious.write_bytes(b"precious")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(path))
    else:
        path.symlink_to({"link": precious, "broken link": path.parent.parent / "new"}.get(kind, "/dev/zero"))
    return precious


@pytest.fixture
def inside(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def in_time(action):
    """What `action` raises, if it comes to an end: a pipe would keep it for ever."""
    raised = []

    def attempt():
        try:
            action()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    return raised[0] if raised else None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("action", [open_regular, read_regular, read_json, open_lock], ids=lambda one: one.__name__)
def test_what_is_no_regular_file_is_refused_at_once_and_left_alone(inside, kind, action):
    precious = make(inside / "x", kind)
    error = in_time(lambda: action(inside / "x"))
    assert isinstance(error, Problem | OSError)
    assert precious.read_bytes() == b"precious"
    assert not (inside.parent / "new").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_holds_more_than_files_and_folders_is_refused(inside, kind):
    (inside / "a" / "b").mkdir(parents=True)
    (inside / "a" / "b" / "file").touch()
    check_tree(inside)
    make(inside / "a" / "x", kind)
    with pytest.raises(Problem, match=r"run/a/x is a (symbolic link|named pipe|socket): .* remove it"):
        check_tree(inside)


def test_a_folder_below_that_is_a_link_is_refused_and_one_that_the_user_named_is_not(inside, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "named").symlink_to(inside)
    check_tree(tmp_path / "named")
    check_tree(tmp_path / "nothing")
    (inside / "episodes").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Problem, match="episodes is a symbolic link"):
        check_tree(tmp_path / "named")


def test_a_link_that_the_user_named_is_followed_to_a_regular_file(inside):
    precious = make(inside / "x", "link")
    assert read_regular(inside / "x", follow=True) == precious.read_bytes()
    make(inside / "zero", "device link")
    with pytest.raises(Problem, match="zero is a device"):
        read_regular(inside / "zero", follow=True)


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(inside):
    with (inside / "big").open("wb") as file:
        file.truncate(5000)
    assert len(read_regular(inside / "big", limit=5000)) == 5000
    with pytest.raises(Problem, match=r"big is too large: it has 5,000 bytes, at most 4,999 are read"):
        read_regular(inside / "big", limit=4999)


def test_a_lock_leaves_the_content_alone(inside):
    (inside / ".lock").write_bytes(b"precious")
    open_lock(inside / ".lock").close()
    assert (inside / ".lock").read_bytes() == b"precious"
