"""The settings of every method, in one place for the command line."""

from dataclasses import dataclass, field

from isthmus.adapt.settings.collect import CollectSettings
from isthmus.adapt.settings.components import Components
from isthmus.adapt.settings.fit import FitSettings


@dataclass(frozen=True)
class MethodSettings:
    """How a method collects and learns."""

    history: int = 1
    """Observations an inverse model looks at: k."""
    collect: CollectSettings = field(default_factory=CollectSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    components: Components = field(default_factory=Components)
    """Of `residual-action` and `auto`: what is left out is for ablations."""
    may_retrain: bool = False
    """Whether `auto` may train the policy on, in simulation, where no change of its actions does."""
