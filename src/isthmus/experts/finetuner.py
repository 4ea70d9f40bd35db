"""Train a policy on by proximal policy optimisation: in a corrected simulator, or from runs that were recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.vec_env import VecNormalize

from isthmus.core import Correct, Float, Mlp, stream
from isthmus.core.trajectory import RewardedTrajectory
from isthmus.evaluate import Scorable, evaluate
from isthmus.experts.agent import Progress, adopt_network, learned_arrays, make_agent, mean_network, restore_arrays
from isthmus.experts.settings import TrainSettings
from isthmus.experts.vec_env import BatchedEnv, Worlds
from isthmus.policies import NetworkPolicy, View
from isthmus.policies.finetuner import Trained
from isthmus.sim import CorrectedWorld
from isthmus.tasks import Task

JUDGED = 16
"""Episodes behind the worth of a policy."""
FINETUNE = TrainSettings(
    steps=50_000, worlds=32, minibatch=256, rate=5e-4, discount=0.99, gae=0.95, initial_std=0.15, entropy=0.0
)
"""A round of training, found on Hopper with torque x0.9: small batches and a high rate, from a policy that is good."""
CRITIC_STEPS = 60_000
"""Steps in the source simulator that a critic first learns from, while the policy stays as it is."""
STUDY_RATE, STUDY_MINIBATCH = 1e-4, 64
"""Learning rate, and states in a step of the optimiser, where few were recorded: small steps in the mean of many."""
STUDY_KL = 0.01
"""KL divergence from the policy that was run at which an update ends: few states say little about other policies."""


@dataclass(frozen=True)
class PpoFinetuner:
    """Stable-Baselines3's PPO, on Gym's own reward."""

    task: Task
    policy: NetworkPolicy
    settings: TrainSettings = field(default_factory=lambda: FINETUNE)
    critic_steps: int = CRITIC_STEPS
    worlds: Callable[[int], Scorable] | None = None
    """n simulations to train in; the source's when not given."""

    @property
    def spell_steps(self) -> int:
        """Steps of simulation in a spell of training."""
        return self.settings.steps

    def begin(self, seed: int) -> Trained:
        """The policy, with a critic that has learned what it earns in the source simulator."""
        agent, env = self._agent(self.task.source(self.settings.worlds), seed)
        held = adopt_network(agent, env, self.policy.network)
        for parameter in held:
            parameter.requires_grad_(False)
        agent.learn(self.critic_steps)
        return _trained(agent, env)

    def corrected(self, correct: Correct) -> "PpoFinetuner":
        """The same in the source simulator, corrected."""

        def worlds(n: int) -> CorrectedWorld:
            return CorrectedWorld(self.task.source(n), correct)

        return replace(self, worlds=worlds)

    def train(self, trained: Trained, seed: int, progress: Callable[[int, float], None]) -> Trained:
        """Train on."""
        settings = self.settings
        agent, env = self._agent(self._worlds(settings.worlds), seed)
        restore_arrays(agent, env, dict(trained.arrays))
        batch = settings.worlds * settings.batch
        agent.learn(settings.steps, callback=Progress(env, lambda steps, recent: progress(steps // batch, recent)))
        return _trained(agent, env)

    def worth(self, network: Mlp, seed: int) -> float:
        """The mean return of a network."""
        policy = replace(self.policy, network=network)
        return float(evaluate(self.task, self._worlds(JUDGED), policy, 1, stream(seed, "worth")).returns.mean())

    def study(self, trained: Trained, runs: Sequence[RewardedTrajectory], seed: int) -> Trained:
        """Train on from recorded runs: one update of PPO, which is on-policy."""
        careful = replace(self.settings, rate=STUDY_RATE)
        agent, env = replace(self, settings=careful)._agent(self.task.source(careful.worlds), seed)
        restore_arrays(agent, env, dict(trained.arrays))
        agent.rollout_buffer = self._buffer(agent, env, runs)
        agent.batch_size, agent.target_kl = STUDY_MINIBATCH, STUDY_KL
        agent.train()
        return _trained(agent, env)

    @property
    def _worlds(self) -> Callable[[int], Scorable]:
        return self.worlds or self.task.source

    def _agent(self, world: Worlds, seed: int) -> tuple[PPO, VecNormalize]:
        torch.set_num_threads(1)  # networks this small gain nothing from threads, and sums are the same on any machine
        settings, network = self.settings, self.policy.network
        view = View("the policy's", network.input_size, self.policy.see)
        env = VecNormalize(
            BatchedEnv(self.task, settings.worlds, seed, world, view, self.policy.squash),
            clip_obs=network.input_clip,
            gamma=settings.discount,
        )
        return cast("PPO", make_agent(env, settings, seed % 2**31, like=network)), env

    def _buffer(self, agent: PPO, env: VecNormalize, runs: Sequence[RewardedTrajectory]) -> RolloutBuffer:
        """The runs one after another, as if one robot had made them."""
        seen, last = (
            np.asarray(env.normalize_obs(self.policy.see(np.concatenate(parts))), dtype=np.float32)
            for parts in ([run.observations[:-1] for run in runs], [run.observations[-1:] for run in runs])
        )
        rewards = env.normalize_reward(np.concatenate([run.rewards for run in runs]))
        ends = np.cumsum([len(run) for run in runs])
        starts = np.zeros(len(rewards))
        starts[np.concatenate(([0], ends[:-1]))] = 1.0
        commands = torch.from_numpy(np.concatenate([run.commands for run in runs]).astype(np.float32))
        with torch.no_grad():
            values, chances, _ = agent.policy.evaluate_actions(torch.from_numpy(seen), commands)
            beyond = agent.policy.predict_values(torch.from_numpy(last)).numpy()[:, 0]
        # What a run that was cut off would have gone on to earn is what its critic says.
        rewards[ends - 1] += agent.gamma * beyond * ~np.array([run.ended for run in runs])
        buffer = RolloutBuffer(
            len(rewards), env.observation_space, env.action_space, "cpu", agent.gae_lambda, agent.gamma, n_envs=1
        )
        for step in range(len(rewards)):
            row = slice(step, step + 1)
            buffer.add(seen[row], commands[row].numpy(), rewards[row], starts[row], values[row, 0], chances[row])
        buffer.compute_returns_and_advantage(torch.zeros(1), np.ones(1))
        return buffer


def _trained(agent: PPO, env: VecNormalize) -> Trained:
    exploration_std: Float = np.exp(agent.policy.log_std.detach().numpy()).astype(np.float64)
    return Trained(mean_network(agent, env), exploration_std, learned_arrays(agent, env))
