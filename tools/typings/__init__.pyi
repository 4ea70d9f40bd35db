from typing import IO, TypeAlias

import numpy as np

from ._callbacks import *
from ._constants import *
from ._enums import *
from ._functions import *
from ._render import *
from ._specs import *
from ._structs import *
from .renderer import Renderer as Renderer

__version__: str
HEADERS_DIR: str
PLUGINS_DIR: str
MJTNUM_DTYPE: TypeAlias = np.float64

class FatalError(Exception): ...
class UnexpectedError(Exception): ...

class GLContext:
    def __init__(self, max_width: int, max_height: int) -> None: ...
    def make_current(self) -> None: ...
    def free(self) -> None: ...

def to_zip(spec: MjSpec, file: str | IO[bytes]) -> None: ...
def from_zip(file: str | IO[bytes]) -> MjSpec: ...
