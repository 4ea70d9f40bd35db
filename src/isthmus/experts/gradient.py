"""Train a policy by the simulator's own derivatives, where those can be trusted: on a robot that moves smoothly.

The return of an episode is a function of the policy, and its gradient follows from the steps backward in time,

    dR/da_t = dr/da + B' dR/do_t+1        dR/do_t = dr/do + A' dR/do_t+1 + (dpi/do)' dR/da_t

with A, B and the slopes of the reward r by finite differences at every step.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from isthmus.adapt.inverse_network.compiler_cache import make_no_compiler_cache
from isthmus.core import Float, Mlp, Problem, stream
from isthmus.experts.agent import LAST_RATE, optimiser_arrays, restore_optimiser
from isthmus.experts.settings import TrainSettings
from isthmus.experts.snapshot import Arrays, Report, Snapshot
from isthmus.policies import NetworkPolicy
from isthmus.sim.robot_model import never_ends
from isthmus.tasks import Task

NUDGE = 1e-4
"""Size of a difference."""
LARGEST = 5.0
"""Norm of the gradient that is not exceeded."""


def train_by_gradient(
    task: Task,
    settings: TrainSettings,
    seed: int,
    report: Report,
    *,
    start: Mlp | None = None,
    done: int = 0,
    arrays: Arrays | None = None,
) -> Snapshot:
    """Go on from the policy `start`, or from `arrays`, with `settings.worlds` episodes an update.

    Every simulated step counts, those for the differences included.
    """
    if (
        task.robot_model.ended is not never_ends
        or task.view.see(np.zeros((1, task.robot_model.spec.observation_size))).shape[1]
        != task.robot_model.spec.observation_size
    ):
        raise Problem(f"episodes of {task.name} end early, or its policy does not see all: train it by ppo or trpo")
    torch.set_num_threads(1)
    learner = _Learner(start if arrays is None else None, arrays, settings.rate)
    steps, rng = done, stream(seed, "expert", task.name, "gradient", done)

    def snapshot(recent: float) -> Snapshot:
        return Snapshot(steps, recent, lambda: NetworkPolicy(learner.network(), task.view.see), learner.arrays)

    recent = float("nan")
    while steps < settings.steps:
        episodes = _episodes(task, learner, settings.worlds, rng)
        learner.step(episodes, rate=settings.rate * max(1 - steps / settings.steps, LAST_RATE))
        steps += episodes.simulated
        recent = float(episodes.rewards.sum(axis=0).mean())
        report(snapshot(recent))
    return snapshot(recent)


@dataclass(frozen=True)
class _Episodes:
    """n episodes of T steps, and how each step changes with what came before it."""

    observations: Float  # (T, n, obs)
    rewards: Float  # (T, n)
    by_state: Float
    """What is seen next, and the reward last, by what is seen now (T, n, obs+1, obs)."""
    by_action: Float  # (T, n, obs+1, act)

    @property
    def simulated(self) -> int:
        """Simulated steps behind this."""
        return self.rewards.size * (1 + self.by_state.shape[3] + self.by_action.shape[3])


def _episodes(task: Task, learner: "_Learner", n: int, rng: np.random.Generator) -> _Episodes:
    spec, simulator = task.robot_model.spec, task.unclamped()
    size = spec.observation_size
    nudges = NUDGE * np.vstack((np.zeros(size + spec.action_size), np.eye(size + spec.action_size)))
    seen = task.source(n).reset(rng)
    steps: list[tuple[Float, Float, Float, Float]] = []
    for _ in range(spec.horizon):
        query = learner.act(seen)
        inside = (query > spec.action_low) & (query < spec.action_high)
        tried = np.concatenate((seen, spec.clip(query)), axis=1)[:, None] + nudges
        tried = tried.reshape(-1, tried.shape[2])
        following, before, after = simulator.predict_with(tried[:, :size], tried[:, size:], task.measure)
        rewards = task.step_reward(before, tried[:, size:], after)
        outcome = np.column_stack((following, rewards)).reshape(n, len(nudges), -1)
        slopes = ((outcome[:, 1:] - outcome[:, :1]) / NUDGE).transpose(0, 2, 1)
        steps.append((seen, outcome[:, 0, -1], slopes[..., :size], slopes[..., size:] * inside[:, None]))
        seen = outcome[:, 0, :-1]
    return _Episodes(*(np.stack(column) for column in zip(*steps, strict=True)))


class _Learner:
    """A policy and its optimiser."""

    def __init__(self, start: Mlp | None, arrays: Arrays | None, rate: float) -> None:
        if arrays is not None:
            start = Mlp.from_arrays({name: array for name, array in arrays.items() if "/" not in name}, "tanh")
        if start is None or start.activation != "tanh":
            raise Problem("the gradient goes on from a policy of tanh layers: give one with --start")
        self._start = start
        self._weights = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in start.weights]
        self._biases = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in start.biases]
        make_no_compiler_cache()
        self._optimiser = torch.optim.Adam([*self._weights, *self._biases], lr=rate)
        if arrays is not None:
            restore_optimiser(self._optimiser, arrays)

    def network(self) -> Mlp:
        """The policy now."""
        return replace(
            self._start,
            weights=tuple(part.detach().numpy().astype(np.float32) for part in self._weights),
            biases=tuple(part.detach().numpy().astype(np.float32) for part in self._biases),
        )

    def act(self, observations: Float) -> Float:
        """Actions (n, act)."""
        with torch.no_grad():
            return self._forward(torch.from_numpy(observations)).numpy()

    def step(self, episodes: _Episodes, rate: float) -> None:
        """Climb the gradient of the mean return."""
        self._optimiser.zero_grad()
        steps, n, size = episodes.observations.shape
        ahead: Float = np.zeros((n, size + 1))
        for t in reversed(range(steps)):
            ahead[:, -1] = 1.0  # the reward of the step itself
            by_action = np.einsum("nk,nka->na", ahead, episodes.by_action[t])
            seen = torch.from_numpy(episodes.observations[t]).requires_grad_()
            (self._forward(seen) * torch.from_numpy(by_action)).sum().neg().backward()
            through_policy = -np.asarray(seen.grad)
            ahead[:, :-1] = np.einsum("nk,nko->no", ahead, episodes.by_state[t]) + through_policy
        for part in (*self._weights, *self._biases):
            if part.grad is not None:
                part.grad /= n
        torch.nn.utils.clip_grad_norm_([*self._weights, *self._biases], LARGEST)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._optimiser.step()

    def arrays(self) -> Arrays:
        """All that is needed to go on."""
        arrays = self.network().arrays() | optimiser_arrays(self._optimiser)
        return {name: np.array(array) for name, array in arrays.items()}

    def _forward(self, observations: torch.Tensor) -> torch.Tensor:
        network, clip = self._start, self._start.input_clip
        hidden = (observations - torch.from_numpy(network.input_mean)) / torch.from_numpy(network.input_scale)
        hidden = hidden.clamp(-clip, clip)
        for weight, bias in zip(self._weights[:-1], self._biases[:-1], strict=True):
            hidden = torch.tanh(hidden @ weight + bias)
        return hidden @ self._weights[-1] + self._biases[-1]
