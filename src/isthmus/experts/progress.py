"""How a training goes, batch by batch."""

from collections.abc import Callable

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

RECENT = 200
"""Episodes behind the return that is reported."""


class Progress(BaseCallback):
    """Tells after every batch the steps so far and the mean return of the last episodes, exploration included."""

    def __init__(self, env: VecNormalize, report: Callable[[int, float], None]) -> None:
        """Watch `env`."""
        super().__init__()
        self.env, self.report = env, report
        self.running = np.zeros(env.num_envs)
        self.finished: list[float] = []

    def _on_step(self) -> bool:
        self.running += self.env.get_original_reward()
        done = np.asarray(self.locals["dones"])
        self.finished.extend(self.running[done].tolist())
        self.running[done] = 0.0
        return True

    def _on_rollout_end(self) -> None:
        recent = self.finished[-RECENT:]
        self.report(self.num_timesteps, float(np.mean(recent)) if recent else float("nan"))
