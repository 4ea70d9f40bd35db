"""Where a ROS master is."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from isthmus.core import Problem

SCHEME = "ros"
PORT = 11311


@dataclass(frozen=True)
class Address:
    """A ROS master: `ros://127.0.0.1:11311`."""

    host: str = "127.0.0.1"
    port: int = PORT

    @staticmethod
    def parse(text: str) -> "Address":
        """The address in `text`."""
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port or PORT
        except ValueError:
            host, port, parts = None, PORT, None
        if parts is None or parts.scheme != SCHEME or not host or parts.path.strip("/"):
            raise Problem(f"{text!r} is no address of a robot: give the ROS master's, as in ros://127.0.0.1:{PORT}")
        return Address(host, port)

    @property
    def uri(self) -> str:
        """As ROS writes it."""
        return f"http://{self.host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether the master is on this machine."""
        return self.host in {"127.0.0.1", "localhost", "::1"}

    def __str__(self) -> str:
        """As we write it."""
        return f"{SCHEME}://{self.host}:{self.port}"
