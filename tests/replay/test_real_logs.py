"""Real recordings, where they are there: in $ISTHMUS_DATA, or in ../shared/data beside the project."""

import os
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli.analyse.recorded import load_recorded
from isthmus.replay.errors import errors, foretellable, hold, judged
from isthmus.replay.explain import predictor
from isthmus.replay.rig import make_rig

DATA = Path(os.environ.get("ISTHMUS_DATA") or Path(__file__).parents[3] / "shared" / "data")
SWING_UPS = sorted((DATA / "qube").glob("qq-su_ectrl_250Hz_5s__rollout*.csv"))


@pytest.mark.skipif(not SWING_UPS, reason="the Qube's recordings are not here: set ISTHMUS_DATA to their folder")
def test_the_nominal_qube_moves_nearly_as_recorded_until_it_balances():
    found = load_recorded(SWING_UPS[:1], "qube", None, (), ())
    rig = make_rig(found.model, found.recording.joints, found.recording.actuators, found.recording.dt)
    short, long = (judged(found.recording, seconds) for seconds in (0.1, 1.0))
    off, still = (errors(one, found.recording, short).rms for one in (predictor(rig), hold))
    assert off < 0.15 * still  # a wrong sign or unit of the voltage would leave much more
    steady = foretellable(rig, found.recording, long)
    assert steady[:4].all()
    upright = np.abs(long.of(found.recording.position)[:, :, 1]).min(axis=1) > 2.8
    assert upright.any()
    assert not steady[upright].any()
