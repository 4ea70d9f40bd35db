"""What `isthmus robot up` and `--robot` refuse, in a sentence."""

import signal

import pytest

from isthmus.cli import main


@pytest.fixture(autouse=True)
def _sigterm():
    """The command handles SIGTERM for the life of its process."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["robot", "up", "fetch", "--address", "ros2://500"], "domains 0 to 232"),
        (["robot", "up", "fetch", "--address", "tcp://a"], "no address of a robot"),
        (["robot", "up", "fetch", "--gap", "mass=2"], "give --which"),
        (["robot", "up", "reacher", "--speed", "2"], "live in real time"),
        (["robot", "up", "reacher", "--address", "udp://127.0.0.1:{port}"], "says nothing of a real robot"),
        (["transfer", "reacher", "--robot", "declared", "--dry-run"], "declares no driver"),
        (["transfer", "reacher", "--robot", "ros2://arm", "--dry-run"], "give its domain and its controller"),
        (["robot", "faults", "--transport", "udp", "--only", "topic"], "nothing to try"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(words, said, capsys):
    from isthmus.hardware.processes import free_address

    port = free_address("udp").port
    with pytest.raises(SystemExit) as ended:
        main([word.format(port=port) for word in words])
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())
