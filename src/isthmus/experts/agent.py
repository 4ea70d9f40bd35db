"""The learner behind an expert, and all that it has learned so far as plain arrays."""

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from sb3_contrib import TRPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecNormalize

from isthmus.adapt.inverse_network.compiler_cache import make_no_compiler_cache
from isthmus.core import Float32, Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.experts.settings import TrainSettings
from isthmus.experts.snapshot import Arrays

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


CLIP = 10.0
"""Standardised observations are clipped to this, in training and in the shipped policy alike."""

CONSTANT = 1e-3
"""An observation that varied less in training says nothing: a little sensor noise must not be blown up into much."""

STATISTICS = ("mean", "var", "count")
"""Of observations and returns, as VecNormalize names them."""

LAST_RATE = 0.05
"""Share of its first learning rate that PPO ends with."""

ADOPTED_COUNT = 1e12
"""Observations that the statistics of an adopted network stand for: they stay what they are, as a gait that was learned
with them does not bear their change."""

Agent = PPO | TRPO


ACTIVATIONS: dict[Activation, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


def make_agent(env: VecNormalize, settings: TrainSettings, seed: int, like: Mlp | None = None) -> Agent:
    """An agent that knows nothing, with a network as the settings say or shaped like another."""
    agent = _agent(env, settings, seed, like)
    # Without a logger it makes one, with a folder in the system's temporary one that nobody removes.
    agent.set_logger(Logger(folder=None, output_formats=[]))
    return agent


def _agent(env: VecNormalize, settings: TrainSettings, seed: int, like: Mlp | None) -> Agent:
    make_no_compiler_cache()
    network = {
        "net_arch": [weight.shape[1] for weight in like.weights[:-1]] if like else [settings.hidden] * 2,
        "activation_fn": ACTIVATIONS[like.activation if like else "tanh"],
        "log_std_init": float(np.log(settings.initial_std)),
    }
    if settings.algorithm == "ppo":
        return PPO(
            "MlpPolicy",
            env,
            n_steps=settings.batch,
            batch_size=min(settings.minibatch, settings.worlds * settings.batch),
            n_epochs=settings.epochs,
            learning_rate=lambda left: settings.rate * max(left, LAST_RATE),
            gamma=settings.discount,
            gae_lambda=settings.gae,
            ent_coef=settings.entropy,
            policy_kwargs=network,
            seed=seed,
            device="cpu",
        )
    return TRPO(
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
        policy_kwargs=network,
        seed=seed,
        device="cpu",
    )


def mean_network(agent: Agent, env: VecNormalize) -> Mlp:
    """The mean action of the trained policy, its observation normaliser included, as plain arrays."""
    linear = _linear(agent)
    outputs = linear[-1].out_features

    def array(tensor: torch.Tensor) -> Float32:
        return tensor.detach().numpy().astype(np.float32)

    seen = _seen(env)
    std = np.sqrt(np.asarray(seen.var, dtype=np.float64) + env.epsilon)
    return Mlp(
        weights=tuple(np.ascontiguousarray(array(layer.weight).T) for layer in linear),
        biases=tuple(array(layer.bias) for layer in linear),
        activation=_activation(agent),
        input_mean=np.asarray(seen.mean, dtype=np.float64),
        input_scale=np.where(std < CONSTANT, 1.0, std),
        output_mean=np.zeros(outputs),
        output_scale=np.ones(outputs),
        input_clip=env.clip_obs,
    )


def adopt_network(agent: Agent, env: VecNormalize, network: Mlp) -> list[torch.nn.Parameter]:
    """Act as `network` does, and leave the rest as it is; returns the parameters that decide about actions."""
    layers = _linear(agent)
    shapes = [tuple(layer.weight.shape[::-1]) for layer in layers]
    if shapes != [weight.shape for weight in network.weights] or network.activation != _activation(agent):
        raise Problem("the policy to start from is not a network of two tanh layers of this size: give its `--hidden`")
    with torch.no_grad():
        for layer, weight, bias in zip(layers, network.weights, network.biases, strict=True):
            layer.weight.copy_(torch.from_numpy(weight.T.copy()))
            layer.bias.copy_(torch.from_numpy(bias.copy()))
        scale, mean = (torch.from_numpy(array.copy()) for array in (network.output_scale, network.output_mean))
        layers[-1].weight.mul_(scale[:, None])
        layers[-1].bias.mul_(scale).add_(mean)
    seen = _seen(env)
    seen.mean, seen.var, seen.count = network.input_mean.copy(), np.square(network.input_scale), ADOPTED_COUNT
    return [*(parameter for layer in layers for parameter in layer.parameters()), agent.policy.log_std]


def _activation(agent: Agent) -> Activation:
    return next(name for name, kind in ACTIVATIONS.items() if agent.policy.activation_fn is kind)


def _linear(agent: Agent) -> list[torch.nn.Linear]:
    layers = [*agent.policy.mlp_extractor.policy_net, agent.policy.action_net]
    return [layer for layer in layers if isinstance(layer, torch.nn.Linear)]


def learned_arrays(agent: Agent, env: VecNormalize) -> Arrays:
    """Weights, optimiser and statistics."""
    arrays = {f"policy/{name}": value.numpy() for name, value in agent.policy.state_dict().items()}
    arrays |= optimiser_arrays(agent.policy.optimizer)
    for name, statistics in _statistics(env).items():
        arrays |= {f"{name}/{key}": np.asarray(getattr(statistics, key)) for key in STATISTICS}
    return {name: array.copy() for name, array in arrays.items()}


def restore_arrays(agent: Agent, env: VecNormalize, arrays: Arrays) -> None:
    """Put back what `learned_arrays` gave."""
    weights: dict[str, torch.Tensor] = {}
    try:
        for name, array in arrays.items():
            part, _, rest = name.partition("/")
            if part == "policy":
                weights[rest] = torch.from_numpy(array)
            elif part != "optimiser" and rest in STATISTICS:
                setattr(_statistics(env)[part], rest, array if array.ndim else float(array))
        agent.policy.load_state_dict(weights)
        restore_optimiser(agent.policy.optimizer, arrays)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise Problem("the training so far is of another network or algorithm, or damaged: begin a new one") from error


def optimiser_arrays(optimiser: torch.optim.Optimizer) -> Arrays:
    """The moments of every parameter: what it has found out about the gradient."""
    parameters = optimiser.state_dict()["state"].items()
    return {f"optimiser/{n}/{name}": np.asarray(value) for n, moments in parameters for name, value in moments.items()}


def restore_optimiser(optimiser: torch.optim.Optimizer, arrays: Arrays) -> None:
    """Put back what `optimiser_arrays` gave; there may be other arrays beside it."""
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in arrays.items():
        if name.startswith("optimiser/"):
            _, number, key = name.split("/")
            # A copy: the optimiser changes it in place.
            moments.setdefault(int(number), {})[key] = torch.from_numpy(array.copy())
    optimiser.load_state_dict(optimiser.state_dict() | {"state": moments})


def _statistics(env: VecNormalize) -> dict[str, RunningMeanStd]:
    return {"observations": _seen(env), "returns": env.ret_rms}


def _seen(env: VecNormalize) -> RunningMeanStd:
    return cast("RunningMeanStd", env.obs_rms)  # observations are one vector, so there is one
