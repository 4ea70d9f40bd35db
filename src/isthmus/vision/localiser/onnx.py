"""A trained localiser from its folder, run by ONNX Runtime on one core. No torch."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, Problem
from isthmus.io import from_json, read_json, read_regular
from isthmus.io.bounded import Unreadable
from isthmus.policies.onnx_check import check_onnx
from isthmus.policies.onnx_runtime import open_session
from isthmus.vision.localiser.file import KIND, LocaliserFile
from isthmus.vision.localiser.locate import Localiser
from isthmus.vision.localiser.settings import COARSE, CROP, FACTS
from isthmus.vision.localiser.shipped import localiser_folder, shipped_names

LARGEST = 256 << 20


def load_localiser(folder: Path) -> tuple[Localiser, LocaliserFile]:
    """The localiser that was trained in a folder, or ships under that name, and what stands beside its networks."""
    folder = localiser_folder(folder)
    path = folder / FACTS
    if not path.is_file():
        raise Problem(
            f"{folder} has no trained localiser: train one with `isthmus vision train SCENE --out {folder}`, or name "
            f"one that ships ({', '.join(shipped_names())})"
        )
    data = read_json(path)
    if data.pop("kind", None) != KIND:
        raise Problem(f"{path} does not describe a localiser")
    facts = from_json(LocaliserFile, data, path, "the description of a localiser")
    coarse, crop = _session(folder / COARSE), _session(folder / CROP)
    width, height = facts.frame.coarse

    def look(pictures: NDArray[np.uint8]) -> Float:
        [heat] = _run(coarse, pictures, folder / COARSE)
        return heat

    def look_closer(crops: NDArray[np.uint8]) -> tuple[Float, Float, Float]:
        places, nothing, turn = _run(crop, crops, folder / CROP)
        return places, nothing, turn

    _run(coarse, np.zeros((1, height, width, 3), np.uint8), folder / COARSE)  # fails here, not in a control loop
    return Localiser(look, look_closer, facts.frame, facts.target, facts.table, facts.calibration), facts


def _session(path: Path) -> Any:  # noqa: ANN401 - of ONNX Runtime
    try:
        content = read_regular(path, limit=LARGEST)
        check_onnx(content)
        return open_session(content)
    except FileNotFoundError as error:
        raise Problem(f"{path} is missing: the folder of a localiser has it") from error
    except Unreadable as error:
        raise Problem(f"{path} is not a network of a localiser ({error})") from error
    except Problem:
        raise
    except Exception as error:  # ONNX Runtime raises types of its own
        raise Problem(f"{path} is not a network of a localiser, or it is damaged ({str(error)[:120]})") from error


def _run(session: Any, pictures: NDArray[np.uint8], path: Path) -> list[Float]:  # noqa: ANN401
    try:
        return session.run(None, {session.get_inputs()[0].name: pictures})
    except Exception as error:
        raise Problem(f"{path} is not a network of this localiser ({str(error)[:120]})") from error
