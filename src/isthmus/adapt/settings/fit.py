"""How models are fitted; apart from the fitting itself, which needs torch."""

from dataclasses import dataclass

from isthmus.core import check_settings


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
