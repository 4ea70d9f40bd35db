"""ONNX Runtime, which is imported here and nowhere else, with all that it would send or write on its own turned off."""

import os
from typing import Any

from isthmus.core import Problem

NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}
"""Without it, importing ONNX Runtime makes a database in the home folder and sends events from it."""


def import_onnxruntime() -> Any:  # noqa: ANN401 - it has no types of its own
    """The module; Problem if it is not installed."""
    os.environ.update(NO_TELEMETRY)  # read once, when the library is loaded
    try:
        import onnxruntime  # noqa: PLC0415 - an extra, and not before the environment is set
    except ModuleNotFoundError as error:
        raise Problem("ONNX policies need ONNX Runtime: pip install 'isthmus[onnx]'") from error
    runtime: Any = onnxruntime
    runtime.disable_telemetry_events()
    return runtime


def open_session(content: bytes) -> Any:  # noqa: ANN401
    """A session of a model, on one thread."""
    runtime = import_onnxruntime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a control step is too short for threads
    options.log_severity_level = 4
    # Without `enable_fallback=0`, a file that fails is tried once more, with a notice on standard output.
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"], enable_fallback=0)
