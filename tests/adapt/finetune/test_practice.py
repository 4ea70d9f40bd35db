"""Practice: how long it lasts, what it keeps, and that it goes on after a kill."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from isthmus.adapt.common.checkpoint import Checkpoint
from isthmus.adapt.finetune import practice
from isthmus.adapt.finetune.practice import PATIENCE, Limits, Practised, practise
from isthmus.adapt.finetune.storage import KIND
from isthmus.adapt.settings import MethodSettings
from isthmus.core import Mlp, Problem
from isthmus.policies.finetuner import Trained

NETWORK = Mlp(
    (np.zeros((2, 3), np.float32), np.zeros((3, 1), np.float32)),
    (np.zeros(3, np.float32), np.zeros(1, np.float32)),
    "tanh",
    np.zeros(2),
    np.ones(2),
    np.zeros(1),
    np.ones(1),
)


def aged(age):
    network = replace(NETWORK, biases=(np.full(3, age, np.float32), NETWORK.biases[1]))
    return Trained(network, np.ones(1), {"age": np.array(age)})


def age(trained):
    return int(trained.network.biases[0][0])


@dataclass
class Scripted:
    """Every spell makes the policy a spell older; what that is worth is looked up."""

    worths: list[float]
    seeds: list[int] = field(default_factory=list)
    killed_at: int = -1
    spell_steps = 100

    def train(self, trained, seed, progress):
        if age(trained) == self.killed_at:
            raise KeyboardInterrupt
        self.seeds.append(seed)
        return aged(age(trained) + 1)

    def worth(self, network, _seed):
        return self.worths[int(network.biases[0][0])]


def run(finetuner, limits, enough=np.inf, checkpoint=None):
    begin = Practised(aged(0), aged(0), finetuner.worths[0])
    checkpoint = checkpoint or Checkpoint()
    return practise(finetuner, limits, enough, lambda: begin, checkpoint, KIND, 0, 0, lambda *_: None)


def test_the_best_policy_is_kept_within_the_steps_that_are_given():
    done = run(Scripted([1, 2, 5, 3, 4]), Limits(0, 400))
    assert (age(done.kept), age(done.now), done.steps, done.best_spell) == (2, 4, 400, 2)


def test_it_ends_as_soon_as_it_is_good_enough():
    assert run(Scripted([1, 2, 5, 9]), Limits(0, 10_000), enough=5).spells == 2
    assert run(Scripted([1]), Limits(0, 10_000), enough=1).spells == 0


def test_it_ends_when_it_gets_no_better():
    done = run(Scripted([1, 2, *[0] * 50]), Limits(0, 10_000))
    assert (done.spells, age(done.kept)) == (1 + PATIENCE, 1)


def test_it_ends_when_its_time_is_up(monkeypatch):
    clock = iter(range(0, 10_000, 25))
    monkeypatch.setattr(practice.time, "monotonic", lambda: float(next(clock)))
    assert run(Scripted(list(range(50))), Limits(2, 0)).spells == 5  # 25 s each


def test_it_goes_on_after_a_kill_as_if_nothing_had_happened(tmp_path):
    whole = Scripted([1, 2, 5, 3, 4])
    wanted = run(whole, Limits(0, 400))
    kept = {}

    def load(_kind):
        return kept.get("state")

    checkpoint = Checkpoint(load, lambda state: kept.update(state=state))
    first = Scripted(whole.worths, killed_at=3)
    with pytest.raises(KeyboardInterrupt):
        run(first, Limits(0, 400), checkpoint=checkpoint)
    second = Scripted(whole.worths)
    done = run(second, Limits(0, 400), checkpoint=checkpoint)
    assert first.seeds + second.seeds == whole.seeds
    assert (age(done.kept), done.worth, done.steps) == (age(wanted.kept), wanted.worth, wanted.steps)


def test_a_damaged_checkpoint_is_refused():
    state = Practised(aged(0), aged(0), 1.0).state()
    broken = replace(state, about={"worth": 1.0}, origin="000-practice.npz")
    with pytest.raises(Problem, match=r"000-practice.npz is not a practice file, or it is damaged"):
        run(Scripted([1]), Limits(0, 400), checkpoint=Checkpoint(lambda _kind: broken))


def test_practice_is_for_a_policy_that_may_be_changed():
    with pytest.raises(Problem, match="give --may-retrain too"):
        MethodSettings(practice=10)
    with pytest.raises(Problem, match="practice-steps cannot be -1"):
        MethodSettings(may_retrain=True, practice_steps=-1)
