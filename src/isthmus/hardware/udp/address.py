"""Where a robot listens for UDP packets."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from isthmus.core import Problem

SCHEME = "udp"
PORT = 9870


@dataclass(frozen=True)
class UdpAddress:
    """A robot's host and port: `udp://192.168.1.5:9870`."""

    host: str = "127.0.0.1"
    port: int = PORT

    @staticmethod
    def parse(text: str) -> "UdpAddress":
        """The address in `text`."""
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, PORT if parts.port is None else parts.port
        except ValueError:
            parts, host, port = None, None, PORT
        if parts is None or parts.scheme != SCHEME or not host or not port or parts.path.strip("/"):
            raise Problem(f"{text!r} is no address of a robot: give its host and port, as in udp://127.0.0.1:{PORT}")
        return UdpAddress(host, port)

    @property
    def local(self) -> bool:
        """Whether the robot is on this machine."""
        return self.host in {"127.0.0.1", "localhost", "::1"}

    def __str__(self) -> str:
        """As we write it."""
        return f"{SCHEME}://{self.host}:{self.port}"
