"""Train an expert by TRPO on Gym's own reward, through the batched world."""

from collections.abc import Callable

import numpy as np
import torch
from sb3_contrib import TRPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize

from isthmus.core import Float, Float32, Mlp
from isthmus.core.streams import stream_seed
from isthmus.experts.settings import TrainSettings
from isthmus.experts.vec_env import BatchedEnv
from isthmus.policies import NetworkPolicy
from isthmus.tasks import Task

CLIP = 10.0
"""Standardised observations are clipped to this, in training and in the shipped policy alike."""

CONSTANT = 1e-3
"""An observation that varied less in training says nothing: a little sensor noise must not be blown up into much."""


Report = Callable[[int, float, Callable[[], NetworkPolicy]], None]
"""Gets the steps so far, the recent mean return, and a function that gives the policy as it is now."""


class _Progress(BaseCallback):
    def __init__(self, env: VecNormalize, report: Report, policy: Callable[[], NetworkPolicy]) -> None:
        super().__init__()
        self.env, self.report, self.policy = env, report, policy
        self.running = np.zeros(env.num_envs)
        self.finished: list[float] = []

    def _on_step(self) -> bool:
        self.running += self.env.get_original_reward()
        done = np.asarray(self.locals["dones"])
        self.finished.extend(self.running[done].tolist())
        self.running[done] = 0.0
        return True

    def _on_rollout_end(self) -> None:
        recent = self.finished[-200:]
        self.report(self.num_timesteps, float(np.mean(recent)) if recent else float("nan"), self.policy)


def train_expert(task: Task, settings: TrainSettings, seed: int, report: Report) -> NetworkPolicy:
    """A policy for the task's source simulator; `report` is called after every batch."""
    torch.manual_seed(stream_seed(seed, "expert", task.name, "torch") % 2**32)
    env = VecNormalize(BatchedEnv(task, settings.worlds, seed), clip_obs=CLIP, gamma=settings.discount)
    agent = TRPO(
        "MlpPolicy",
        env,
        n_steps=settings.batch,
        batch_size=settings.worlds * settings.batch,
        gamma=settings.discount,
        gae_lambda=settings.gae,
        target_kl=settings.kl,
        cg_max_steps=10,
        cg_damping=0.1,
        n_critic_updates=10,
        sub_sampling_factor=settings.subsample,
        policy_kwargs={
            "net_arch": [settings.hidden] * 2,
            "activation_fn": torch.nn.Tanh,
            "log_std_init": float(np.log(settings.initial_std)),
        },
        seed=stream_seed(seed, "expert", task.name, "agent") % 2**31,
        device="cpu",
    )

    def policy() -> NetworkPolicy:
        return NetworkPolicy(_network(agent, env), task.view.see)

    agent.learn(settings.steps, callback=_Progress(env, report, policy))
    return policy()


def _network(agent: TRPO, env: VecNormalize) -> Mlp:
    """The mean action of the trained policy, its observation normaliser included, as plain arrays."""
    layers = [*agent.policy.mlp_extractor.policy_net, agent.policy.action_net]
    linear = [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
    outputs = linear[-1].out_features

    def array(tensor: torch.Tensor) -> Float32:
        return tensor.detach().numpy().astype(np.float32)

    seen = env.obs_rms
    if not isinstance(seen, RunningMeanStd):
        raise TypeError("observations are one vector, not a dictionary")
    mean: Float = np.asarray(seen.mean, dtype=np.float64)
    spread: Float = np.sqrt(np.asarray(seen.var, dtype=np.float64) + env.epsilon)
    return Mlp(
        weights=tuple(np.ascontiguousarray(array(layer.weight).T) for layer in linear),
        biases=tuple(array(layer.bias) for layer in linear),
        activation="tanh",
        input_mean=mean,
        input_scale=np.where(spread < CONSTANT, 1.0, spread),
        output_mean=np.zeros(outputs),
        output_scale=np.ones(outputs),
        input_clip=CLIP,
    )
