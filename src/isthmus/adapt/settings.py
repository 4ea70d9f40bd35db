"""The settings of methods: how target data is collected, how models are fitted, and which parts a method has."""

from dataclasses import dataclass, field

from isthmus.core import Problem, check_settings, unknown_name

MOST_MINUTES = 10_000.0
"""A week."""
FOLLOWS = ("auto", "track", "clone")
"""Ways to follow a reference without a simulator."""


@dataclass(frozen=True)
class CollectSettings:
    """How target data is collected."""

    interrupt: float = 0.1
    """Probability that a step is interrupted by a random action."""
    interrupt_scale: float = 0.2
    """Size of random actions, as a share of the actuators' range."""
    drift: float = 3.0
    """Distance from the source's own trajectory, in its standard deviations, at which an episode is cut short."""
    first_share: float = 0.5
    """Share of the task's horizon that an episode takes in the first round; it doubles every round."""
    placed: int = 0
    """Random actions to try from every state along an episode: in simulation only."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings(
            (
                ("collect.interrupt", self.interrupt, 0 <= self.interrupt <= 1),
                ("collect.interrupt-scale", self.interrupt_scale, 0 < self.interrupt_scale <= 1),
                ("collect.drift", self.drift, self.drift > 0),
                ("collect.first-share", self.first_share, 0 < self.first_share <= 1),
                ("collect.placed", self.placed, 0 <= self.placed <= 10_000),
            )
        )

    def length(self, round_number: int, horizon: int) -> int:
        """Steps of an episode in that round: short at first, then longer."""
        return min(horizon, max(int(self.first_share * horizon), 1) << min(round_number, 30))


@dataclass(frozen=True)
class Components:
    """Those that are there."""

    metric: bool = True
    """Errors count by what they cost to correct later; else all alike."""
    effort_penalty: bool = True
    """Errors are explained, and made up for, only as far as that is worth the effort."""
    regression: bool = True
    """Errors that depend on the state and the commands are learned."""
    observer: bool = True
    """Correlated disturbances are estimated while the robot runs."""
    cross_validation: bool = True
    """The ridge penalty is chosen by cross-validation over episodes; else the weakest one is taken."""
    correction: bool = True
    """`auto` rehearses in a simulator that the samples have put right; else in the source's, where
    commands are changed by the regression and the disturbances."""
    fall_back: bool = True
    """`auto` leaves the policy as it is unless another surely does better; else the best of the others is taken."""


@dataclass(frozen=True)
class FitSettings:
    """How an inverse network is fitted."""

    hidden: tuple[int, ...] = (256, 256)
    """Units of each hidden layer."""
    epochs: int = 300
    """Passes over the data at most."""
    patience: int = 40
    """Passes without progress on held-out episodes before it stops."""
    batch: int = 128
    """Examples in a gradient step."""
    learning_rate: float = 1e-3
    """Adam's step size."""
    weight_decay: float = 1e-4
    """Pull of the weights toward zero (decoupled)."""
    validation: float = 0.15
    """Share of the episodes that is held out."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings(
            (
                ("fit.hidden", self.hidden, 1 <= len(self.hidden) <= 16),
                *(("fit.hidden", units, 1 <= units <= 10_000) for units in self.hidden),
                ("fit.epochs", self.epochs, 1 <= self.epochs <= 10**6),
                ("fit.patience", self.patience, 1 <= self.patience <= 10**9),
                ("fit.batch", self.batch, 1 <= self.batch <= 10**7),
                ("fit.learning-rate", self.learning_rate, 0 < self.learning_rate < 1),
                ("fit.weight-decay", self.weight_decay, 0 <= self.weight_decay <= 1e3),
                ("fit.validation", self.validation, 0 < self.validation <= 0.5),
            )
        )


@dataclass(frozen=True)
class MethodSettings:
    """How a method collects and learns."""

    history: int = 1
    """Observations the inverse model looks at (the paper's k)."""
    collect: CollectSettings = field(default_factory=CollectSettings)
    """How target data is collected."""
    fit: FitSettings = field(default_factory=FitSettings)
    """How the inverse model is fitted."""
    components: Components = field(default_factory=Components)
    """Parts of `residual-action` and `auto`, to leave out for an ablation."""
    follow: str = "auto"
    """How --method inverse follows a reference without actions: `track` asks the network for the next recorded state,
    `clone` asks it for the actions of the reference and learns those; `auto` tracks under position control, else
    clones."""
    smoothness: float = 1.0
    """Price of changing an action where the simulator is inverted (`model-inverse`, and `auto` with it): so many times
    that of the regulator behind the cost-to-go. More of it makes commands smoother, and zero leaves them free."""
    may_retrain: bool = False
    """Let --method auto train the policy on, in the corrected simulator, where changing its actions is not enough."""
    practice: float = 0.0
    """Minutes that it may be trained for in a round, with --may-retrain; it ends early when it is good enough, or gets
    no better. 0 is four short spells."""
    practice_steps: int = 0
    """The same in steps of simulation, which make the same policy on every machine."""

    def __post_init__(self) -> None:
        """Refuse a way to follow that does not exist, and numbers that make no sense."""
        check_settings(
            (
                ("smoothness", self.smoothness, 0 <= self.smoothness <= 1e6),
                ("practice", self.practice, 0 <= self.practice <= MOST_MINUTES),
                ("practice-steps", self.practice_steps, 0 <= self.practice_steps <= 10**10),
            )
        )
        if (self.practice or self.practice_steps) and not self.may_retrain:
            raise Problem("--practice is for a policy that may be changed: give --may-retrain too")
        if self.follow not in FOLLOWS:
            raise unknown_name("way to follow a reference", self.follow, FOLLOWS)
