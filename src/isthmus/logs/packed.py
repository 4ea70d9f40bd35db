"""Unpack what a log holds compressed, up to a bound: sizes that a header states are not relied upon."""

from typing import Any, BinaryIO

ZSTD = b"\x28\xb5\x2f\xfd"
"""How a Zstandard frame begins; the encoding of a message in CDR begins with a zero."""
LARGEST_MESSAGE = 256 << 20


def unpack_lz4(content: bytes, largest: int) -> bytes:
    """At most `largest` bytes of an LZ4 frame."""
    import lz4.frame  # noqa: PLC0415 - comes with the extra `logs`

    decompressor: Any = lz4.frame.LZ4FrameDecompressor()
    return decompressor.decompress(content, largest)


def unpacked_message(content: bytes) -> bytes:
    """A message in CDR, which may have been compressed by itself; what cannot be unpacked stays as it is."""
    if not content.startswith(ZSTD):
        return content
    try:
        return unpack_zstd(content, LARGEST_MESSAGE)
    except Exception:  # a damaged frame fails in types of zstandard; it is then no message
        return b""


def unpack_zstd(content: bytes | BinaryIO, largest: int) -> bytes:
    """At most `largest` bytes of a Zstandard frame."""
    import zstandard  # noqa: PLC0415 - comes with the extra `logs`

    with zstandard.ZstdDecompressor(max_window_size=largest).stream_reader(content) as stream:
        return stream.read(largest)
