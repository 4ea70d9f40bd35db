"""Train an expert on Gym's own reward, through the batched world."""

import torch
from stable_baselines3.common.vec_env import VecNormalize

from isthmus.core import Mlp
from isthmus.core.random import stream_seed
from isthmus.experts.agent import (
    CLIP,
    Agent,
    Progress,
    adopt_network,
    learned_arrays,
    make_agent,
    mean_network,
    restore_arrays,
)
from isthmus.experts.conditioned import ConditionedWorlds, Told
from isthmus.experts.randomised import RandomisedWorlds
from isthmus.experts.settings import TrainSettings
from isthmus.experts.snapshot import Arrays, Report, Snapshot
from isthmus.experts.vec_env import BatchedEnv
from isthmus.gaps import Ranges
from isthmus.policies import NetworkPolicy
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.tasks import Task

CRITIC_FIRST = 100
"""Batches that only the critic learns from when a policy is there to start with."""


def train_expert(
    task: Task,
    settings: TrainSettings,
    seed: int,
    report: Report,
    *,
    start: Mlp | None = None,
    done: int = 0,
    arrays: Arrays | None = None,
) -> Snapshot:
    """Train for the task's source simulator; `report` is called after every batch.

    `start` is a policy to begin with. `arrays` are what another training had come to after `done` steps: this one goes
    on from there, in other episodes.
    """
    torch.manual_seed(stream_seed(seed, "expert", task.name, "torch", done) % 2**32)
    torch.set_num_threads(1)  # networks this small gain nothing from threads, and the physics needs them
    episodes = stream_seed(seed, "expert", task.name, done) % 2**32
    told = Told.of(task, Ranges.parse(settings.randomise)) if settings.conditioned else None
    batched = BatchedEnv(task, settings.worlds, episodes, _world(task, settings, told), told and told.view(task.view))
    env = VecNormalize(batched, clip_obs=CLIP, gamma=settings.discount)
    agent: Agent = make_agent(env, settings, stream_seed(seed, "expert", task.name, "agent", done) % 2**31)
    held: list[torch.nn.Parameter] = []
    if arrays is not None:
        restore_arrays(agent, env, arrays)
    elif start is not None:
        adopted = adopt_network(agent, env, start if told is None else told.widened(start))
        held = adopted if settings.algorithm == "ppo" else []  # TRPO's steps are small enough
    agent.num_timesteps = done

    def snapshot(steps: int, recent: float) -> Snapshot:
        return Snapshot(
            steps,
            recent,
            policy=lambda: _policy(task, mean_network(agent, env), told),
            arrays=lambda: learned_arrays(agent, env),
        )

    def batch_done(steps: int, recent: float) -> None:
        # Until its critic has seen something, a policy that is good already can only be spoilt.
        for parameter in held:
            parameter.requires_grad_(steps > CRITIC_FIRST * settings.worlds * settings.batch)
        report(snapshot(steps, recent))

    progress = Progress(env, batch_done)
    if done < settings.steps:
        agent.learn(settings.steps - done, callback=progress, reset_num_timesteps=False)
    return snapshot(agent.num_timesteps, float("nan"))


def _world(task: Task, settings: TrainSettings, told: Told | None) -> RandomisedWorlds | ConditionedWorlds | None:
    """What to train in, where that is not the source simulator as it is."""
    if not settings.randomise:
        return None
    worlds = RandomisedWorlds(task, settings.worlds, Ranges.parse(settings.randomise))
    return worlds if told is None else ConditionedWorlds(worlds, told)


def _policy(task: Task, network: Mlp, told: Told | None) -> NetworkPolicy | ConditionedPolicy:
    if told is None:
        return NetworkPolicy(network, task.view.see)
    return ConditionedPolicy(network, told.names, told.low, told.high, task.view.see)
