"""What is compared: one robot across one gap, by every entry, from every seed."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from isthmus.adapt import METHODS, MethodKind, MethodSettings
from isthmus.core import Problem, WorldSpec, unknown_name
from isthmus.evaluate.oracle import METRICS
from isthmus.experiments.comparison.settings import (
    EPISODES,
    FEW_EPISODES,
    HISTORIES,
    LONG,
    ORACLE_EPISODES,
    ROUND_SAMPLES,
    ROUNDS,
)
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.transfer import Config, PolicyFile, source_policy

UNADAPTED = "unadapted"
ALL = "all"


@dataclass(frozen=True)
class Entry:
    """One method, looking back so many observations."""

    method: str
    history: int = 1

    @property
    def label(self) -> str:
        """Names its row."""
        return self.method if self.history == 1 else f"{self.method}, history {self.history}"

    @property
    def kind(self) -> MethodKind:
        """What the registry has of it."""
        return METHODS[self.method]


def choose_entries(names: str = ALL) -> tuple[Entry, ...]:
    """The rows of the methods that are named, with commas between them; the expert as it is always takes part."""
    chosen = list(METHODS) if names.strip() == ALL else [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in METHODS:
            raise unknown_name("method", name, [*METHODS, ALL])
    return tuple(
        Entry(name, history) for name in dict.fromkeys((UNADAPTED, *chosen)) for history in HISTORIES.get(name, (1,))
    )


@dataclass(frozen=True)
class Case:
    """One comparison."""

    task: str
    gap: str
    samples: int
    entries: tuple[Entry, ...]
    episodes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Behind the score of a method, by its name, where not as everywhere."""
    default_episodes: int = EPISODES
    metrics: tuple[str, ...] = tuple(METRICS)
    """Of the oracle; none when it is not wanted."""
    oracle_episodes: int = ORACLE_EPISODES
    rounds: int = ROUNDS
    """How often methods learn anew, if their samples are enough for that."""
    round_ends: tuple[int, ...] = ()
    """Budgets on the way, at which methods learn anew and are judged in full; who is paid learns all the time."""
    policy: PolicyFile | None = None
    settings: MethodSettings = field(default_factory=MethodSettings)
    """How methods collect and learn; the history is the entry's."""

    def __post_init__(self) -> None:
        """Refuse names that are none; the gap is kept in the one form that it is always written in."""
        object.__setattr__(self, "gap", str(Gap.parse(self.gap)))
        for name in self.episodes:
            if name not in METHODS:
                raise unknown_name("method", name, METHODS)

    @property
    def name(self) -> str:
        """As people read it."""
        return f"{self.task}, {self.gap}"

    @property
    def options(self) -> dict[str, object]:
        """The options of a command that say what is not as usual."""
        episodes = [str(self.default_episodes)] if self.default_episodes != EPISODES else []
        episodes += [f"{method}={number}" for method, number in self.episodes.items()]
        usual = not self.metrics or self.oracle_episodes == ORACLE_EPISODES
        return {
            **(self.policy.options if self.policy else {}),
            "episodes": ",".join(episodes) or None,
            "no_oracle": not self.metrics,
            "oracle_episodes": None if usual else self.oracle_episodes,
        }

    def config(self, entry: Entry, seed: int) -> Config:
        """The run of an entry."""
        return Config(
            task=self.task,
            gap=self.gap,
            method=entry.method,
            samples=self.samples,
            seed=seed,
            round_samples=max(ROUND_SAMPLES, -(-self.samples // self.rounds)),
            round_ends=() if entry.kind.sees_reward else self.round_ends,
            evaluation_episodes=self.episodes_of(entry),
            interim_episodes=entry.kind.sees_reward or not self.round_ends,
            settings=dataclasses.replace(self.settings, history=entry.history),
            policy=self.policy,
        )

    def episodes_of(self, entry: Entry) -> int:
        """Episodes behind an entry's score."""
        if entry.method in self.episodes:
            return self.episodes[entry.method]
        few = entry.kind.slow and _spec(self.task).horizon > LONG
        return min(FEW_EPISODES, self.default_episodes) if few else self.default_episodes

    def check(self) -> None:
        """Refuse what cannot be compared by anybody, before anything is run."""
        task = load_task(self.task)
        Gap.parse(self.gap).apply(task.robot_model.model)
        source_policy(task, self.policy)
        if self.oracle_episodes < 1:
            raise Problem(f"episodes must be at least 1, got {self.oracle_episodes}")
        for entry in self.entries:
            self.config(entry, 0)

    @property
    def control_period(self) -> float:
        """Microseconds that there are for a control step."""
        return 1e6 * _spec(self.task).control_period


@cache
def _spec(task: str) -> WorldSpec:
    return load_task(task).robot_model.spec


def parse_episodes(text: str) -> tuple[int, dict[str, int]]:
    """Read `50` or `50,gaussian=8`: episodes of all methods, and of those that are named."""
    default, named = EPISODES, dict[str, int]()
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, number = part.rpartition("=")
        if not number.strip().isdecimal():
            raise Problem(f"episodes {part!r} needs a whole number, as in 50 or 50,gaussian=8")
        if equals:
            named[name.strip()] = int(number)
        else:
            default = int(number)
    return default, named
