"""Named random streams from one seed.

A stream depends on the seed and its name only, never on what was drawn before it, so a resumed run draws what the
uninterrupted one would have drawn.
"""

import hashlib

import numpy as np


def stream_seed(seed: int, *name: str | int) -> int:
    """A 63-bit seed for the stream of that name."""
    text = "/".join(_tagged(part) for part in (seed, *name))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """The random generator of that name: `stream(0, "collect", round, episode)`."""
    return np.random.default_rng(stream_seed(seed, *name))


def _tagged(part: str | int) -> str:
    """The part with its type, so that 1 and "1" differ, and with its slashes doubled, so that no two names meet."""
    return "str:" + part.replace("/", "//") if isinstance(part, str) else f"int:{int(part)}"
