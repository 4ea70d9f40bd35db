"""Proximal policy optimisation of what is added to the trot, in stages that can be resumed exactly.

Every stage begins with fresh episodes and random numbers of its own. What it starts from is a file of numbers: weights,
Adam's moments and the learning rate. A training that was killed goes on with the last whole stage, and ends the same.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from isthmus.core import Float32, Mlp, stream
from isthmus.experiments.anymal.walks import SCALE, Walks
from isthmus.io import load_arrays, save_arrays
from isthmus.robots.anymal.model import STANCE

KIND = "anymal training"
ACT = len(STANCE)


@dataclass(frozen=True)
class Settings:
    """Of the learning."""

    robots: int = 192
    steps: int = 32
    """Control steps of each robot between two updates."""
    updates: int = 30
    """Updates in a stage."""
    stages: int = 4
    hidden: tuple[int, ...] = (128, 128)
    discount: float = 0.985
    trace: float = 0.95
    epochs: int = 4
    batches: int = 4
    clip: float = 0.2
    entropy: float = 0.002
    first_std: float = 0.5
    wanted_kl: float = 0.012

    @property
    def samples(self) -> int:
        """Control steps in all."""
        return self.robots * self.steps * self.updates * self.stages


class Learner:
    """A policy and its value function, in training."""

    def __init__(self, seen: int, settings: Settings, seed: int) -> None:
        """Start from random weights; what is added to the trot starts near zero."""
        torch.manual_seed(seed)
        self.settings, self.seed, self.stage = settings, seed, 0
        self.policy, self.value = _mlp(seen, ACT, settings.hidden), _mlp(seen, 1, settings.hidden)
        last: Any = self.policy[-1]
        last.weight.data *= 0.05
        self.log_std = nn.Parameter(torch.full((ACT,), float(np.log(settings.first_std))))
        parts = [*self.policy.parameters(), *self.value.parameters(), self.log_std]
        self.optimiser = torch.optim.Adam(parts, lr=1e-3)
        self.history: list[dict[str, float]] = []

    def run_stage(self, walks: Walks) -> dict[str, float]:
        """Learn for one stage; returns means over its last updates."""
        torch.manual_seed(1000 * self.seed + self.stage)
        seen = walks.begin(stream(self.seed, "anymal", self.stage)).astype(np.float32)
        shown: list[dict[str, float]] = []
        for _ in range(self.settings.updates):
            rolled, seen = self._collect(walks, seen)
            self._update(rolled)
            shown.append(rolled.summary)
        self.stage += 1
        means = {name: float(np.mean([one[name] for one in shown[-10:]])) for name in shown[0]}
        means["std"] = float(self.log_std.detach().exp().mean())
        self.history.append(means)
        return means

    def _collect(self, walks: Walks, seen: Float32) -> tuple["_Rolled", Float32]:
        s, n = self.settings, len(seen)
        rolled = _Rolled.empty(s.steps, n, seen.shape[1])
        std = self.log_std.exp()
        fell = 0
        with torch.no_grad():
            for step in range(s.steps):
                mean = self.policy(torch.from_numpy(seen))
                outputs = mean + std * torch.randn_like(mean)
                rolled.seen[step], rolled.outputs[step] = torch.from_numpy(seen), outputs
                taken = walks.step(outputs.double().numpy(), seen.astype(np.float64))
                reward = taken.reward.astype(np.float32)
                if taken.out_of_time.any():
                    ends = torch.from_numpy(taken.last_seen[taken.out_of_time].astype(np.float32))
                    reward[taken.out_of_time] += s.discount * self.value(ends).numpy()[:, 0]
                rolled.reward[step] = torch.from_numpy(reward)
                rolled.over[step] = torch.from_numpy((taken.fell | taken.out_of_time).astype(np.float32))
                fell += int(taken.fell.sum())
                rolled.summary["reward"] += float(taken.reward.mean()) / s.steps
                seen = taken.seen.astype(np.float32)
            rolled.summary["falls"] = fell / (s.steps * n)
            self._advantages(rolled, torch.from_numpy(seen))
        return rolled, seen

    def _advantages(self, rolled: "_Rolled", after: torch.Tensor) -> None:
        s = self.settings
        values = self.value(rolled.seen)[..., 0]
        following, gain = self.value(after)[:, 0], torch.zeros(values.shape[1])
        for step in reversed(range(len(values))):
            goes_on = 1 - rolled.over[step]
            delta = rolled.reward[step] + s.discount * following * goes_on - values[step]
            gain = delta + s.discount * s.trace * goes_on * gain
            rolled.advantage[step], following = gain, values[step]
        rolled.returns = rolled.advantage + values

    def _update(self, rolled: "_Rolled") -> None:
        s = self.settings
        seen, outputs = rolled.seen.flatten(0, 1), rolled.outputs.flatten(0, 1)
        returns, advantage = rolled.returns.flatten(), rolled.advantage.flatten()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        with torch.no_grad():
            old_mean, old_std = self.policy(seen), self.log_std.exp().clone()
            old = torch.distributions.Normal(old_mean, old_std).log_prob(outputs).sum(1)
        for _ in range(s.epochs):
            for rows in torch.randperm(len(seen)).chunk(s.batches):
                spread = torch.distributions.Normal(self.policy(seen[rows]), self.log_std.exp())
                self._follow(float(_divergence(old_mean[rows], old_std, spread)))
                ratio = (spread.log_prob(outputs[rows]).sum(1) - old[rows]).exp()
                gain = advantage[rows]
                clipped = ratio.clamp(1 - s.clip, 1 + s.clip)
                wrong = (self.value(seen[rows])[:, 0] - returns[rows]).square().mean()
                loss = -torch.min(ratio * gain, clipped * gain).mean() + 0.5 * wrong
                loss = loss - s.entropy * spread.entropy().sum(1).mean()
                self.optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([p for group in self.optimiser.param_groups for p in group["params"]], 1.0)
                self.optimiser.step()

    def _follow(self, divergence: float) -> None:
        """Keep each update near the wanted divergence by the learning rate."""
        group = self.optimiser.param_groups[0]
        if divergence > 2 * self.settings.wanted_kl:
            group["lr"] = max(1e-5, group["lr"] / 1.5)
        elif divergence < self.settings.wanted_kl / 2:
            group["lr"] = min(2e-3, group["lr"] * 1.5)

    def save(self, path: Path) -> None:
        """Write all that the next stage starts from."""
        arrays: dict[str, np.ndarray] = {}
        for name, tensor in self._tensors().items():
            arrays[name] = tensor.detach().numpy()
        meta = {"kind": KIND, "stage": self.stage, "history": self.history}
        save_arrays(path, arrays, {**meta, "rate": self.optimiser.param_groups[0]["lr"]})

    def load(self, path: Path) -> None:
        """Go on from what `save` wrote."""
        arrays, meta = load_arrays(path, KIND)
        if int(meta["stage"]):
            self._prime()
        for name, tensor in self._tensors().items():
            tensor.data.copy_(torch.from_numpy(arrays[name]))
        self.optimiser.param_groups[0]["lr"] = float(meta["rate"])
        self.stage, self.history = int(meta["stage"]), list(meta["history"])

    def _prime(self) -> None:
        """Make Adam's moments, which it has only after a step."""
        for group in self.optimiser.param_groups:
            for parameter in group["params"]:
                parameter.grad = torch.zeros_like(parameter)
        self.optimiser.step()

    def _tensors(self) -> dict[str, torch.Tensor]:
        found: dict[str, torch.Tensor] = {}
        for number, parameter in enumerate(p for group in self.optimiser.param_groups for p in group["params"]):
            found[f"parameter_{number}"] = parameter
            for name, moment in self.optimiser.state.get(parameter, {}).items():
                found[f"{name}_{number}"] = moment
        return found

    def network(self) -> Mlp:
        """The mean action as a plain network: joint targets from what is seen, the trot included.

        The trot's 12 numbers pass through each layer as their positive and negative parts, which a ReLU leaves alone.
        """
        layers = [layer for layer in self.policy if isinstance(layer, nn.Linear)]
        pairs = [(np.array(layer.weight.detach().numpy().T), np.array(layer.bias.detach().numpy())) for layer in layers]
        return with_trot(pairs)


def with_trot(layers: list[tuple[Any, Any]]) -> Mlp:
    """ReLU layers (weight, bias) of what is added, with the trot that ends their input passed through and added."""
    both = np.concatenate([np.eye(ACT), -np.eye(ACT)], axis=1).astype(np.float32)  # (12, 24)
    weights, biases = list[Float32](), list[Float32]()
    for number, (weight, bias) in enumerate(layers[:-1]):
        inputs, outputs = weight.shape
        rows = inputs if number == 0 else inputs + 2 * ACT
        wider = np.zeros((rows, outputs + 2 * ACT), np.float32)
        wider[:inputs, :outputs] = weight
        if number == 0:
            wider[inputs - ACT :, outputs:] = both
        else:
            wider[inputs:, outputs:] = np.eye(2 * ACT)
        weights.append(wider)
        biases.append(np.concatenate([bias, np.zeros(2 * ACT)]).astype(np.float32))
    weight, bias = layers[-1]
    weights.append(np.concatenate([SCALE * weight, both.T]).astype(np.float32))
    biases.append((SCALE * bias + STANCE).astype(np.float32))
    seen = len(weights[0])
    return Mlp(
        weights=tuple(weights),
        biases=tuple(biases),
        activation="relu",
        input_mean=np.zeros(seen),
        input_scale=np.ones(seen),
        output_mean=np.zeros(ACT),
        output_scale=np.ones(ACT),
    )


@dataclass
class _Rolled:
    """What was seen and done between two updates, each (steps, n, ...)."""

    seen: torch.Tensor
    outputs: torch.Tensor
    reward: torch.Tensor
    over: torch.Tensor
    advantage: torch.Tensor
    returns: torch.Tensor
    summary: dict[str, float]

    @staticmethod
    def empty(steps: int, n: int, seen: int) -> "_Rolled":
        """Room for it."""
        reward, over, advantage, returns = (torch.zeros(steps, n) for _ in range(4))
        seen_there, outputs = torch.zeros(steps, n, seen), torch.zeros(steps, n, ACT)
        return _Rolled(seen_there, outputs, reward, over, advantage, returns, {"reward": 0.0, "falls": 0.0})


def _mlp(inputs: int, outputs: int, hidden: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(inputs, size), nn.ReLU()]
        inputs = size
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def _divergence(mean: torch.Tensor, std: torch.Tensor, new: torch.distributions.Normal) -> torch.Tensor:
    """Mean Kullback-Leibler divergence of new from old actions."""
    with torch.no_grad():
        squares = (std.square() + (mean - new.mean).square()) / (2 * new.stddev.square())
        return (torch.log(new.stddev / std) + squares - 0.5).sum(1).mean()
