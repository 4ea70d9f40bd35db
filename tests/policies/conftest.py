"""Files for the readers are made by Stable-Baselines3 itself, which leaves folders wherever it runs."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def folders_of_sb3(tmp_path_factory):
    """Have it leave them in pytest's own folder: they are no fault of the readers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SB3_LOGDIR", "TORCHINDUCTOR_CACHE_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("sb3")))
        yield
