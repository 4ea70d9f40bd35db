from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

def get_ffmpeg_exe() -> str: ...
def get_ffmpeg_version() -> str: ...
def count_frames_and_secs(path: str | Path) -> tuple[int, float]: ...

# Yields a dict that describes the video, then the bytes of each frame.
def read_frames(
    path: str | Path,
    pix_fmt: str = ...,
    bpp: int | None = ...,
    input_params: Sequence[str] | None = ...,
    output_params: Sequence[str] | None = ...,
    bits_per_pixel: int | None = ...,
) -> Generator[Any, None, None]: ...

# Takes None first, then the bytes of each frame, by send().
def write_frames(
    path: str | Path,
    size: tuple[int, int],
    pix_fmt_in: str = ...,
    pix_fmt_out: str = ...,
    fps: float = ...,
    quality: float | None = ...,
    bitrate: str | int | None = ...,
    codec: str | None = ...,
    macro_block_size: int | None = ...,
    ffmpeg_log_level: str = ...,
    ffmpeg_timeout: float | None = ...,
    input_params: Sequence[str] | None = ...,
    output_params: Sequence[str] | None = ...,
    audio_path: str | None = ...,
    audio_codec: str | None = ...,
) -> Generator[None, bytes | NDArray[Any] | None, None]: ...
