from contextlib import AbstractContextManager
from typing import Literal

def threadpool_limits(limits: int, user_api: Literal["blas", "openmp"]) -> AbstractContextManager[object]: ...
