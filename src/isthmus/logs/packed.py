"""Unpack what a log holds compressed, up to a bound: sizes that a header states are not relied upon."""

from typing import Any


def unpack_lz4(content: bytes, largest: int) -> bytes:
    """At most `largest` bytes of an LZ4 frame."""
    import lz4.frame  # noqa: PLC0415 - comes with the extra `logs`

    decompressor: Any = lz4.frame.LZ4FrameDecompressor()
    return decompressor.decompress(content, largest)


def unpack_zstd(content: bytes, largest: int) -> bytes:
    """At most `largest` bytes of a Zstandard frame."""
    import zstandard  # noqa: PLC0415 - comes with the extra `logs`

    with zstandard.ZstdDecompressor(max_window_size=largest).stream_reader(content) as stream:
        return stream.read(largest)
