import dataclasses

import numpy as np
import pytest


@pytest.fixture
def widened(run):
    """Makes the run one of a robot with more of everything."""

    def make(observations, actions):
        rng = np.random.default_rng(0)
        spec = dataclasses.replace(
            run.spec,
            observation_names=tuple(f"a rather long name of dimension {i}" for i in range(observations)),
            action_names=tuple(f"<b>{i}</b>" for i in range(actions)),
            action_low=-np.ones(actions),
            action_high=np.ones(actions),
            targets=np.arange(observations),
        )
        traces = {}
        for role, trace in run.traces.items():
            n, steps = trace.commands.shape[:2]
            seen = rng.normal(size=(n, steps + 1, observations))
            commands, source = rng.normal(size=(2, n, steps, actions))
            traces[role] = dataclasses.replace(
                trace,
                observations=seen,
                wanted=seen[:, 1:] + 0.1,
                commands=commands,
                source=source,
                lengths=rng.integers(1, steps + 1, n),
            )
        rounds = tuple(
            dataclasses.replace(one, error=(0.5,) * actions, action_std=(1.0,) * actions, waves=())
            for one in run.rounds
        )
        robot_model = dataclasses.replace(run.task.robot_model, spec=spec)
        task = dataclasses.replace(run.task, robot_model=robot_model)
        return dataclasses.replace(run, task=task, traces=traces, rounds=rounds)

    return make
