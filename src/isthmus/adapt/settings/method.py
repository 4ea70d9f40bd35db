"""The settings of every method, in one place for the command line."""

from dataclasses import dataclass, field

from isthmus.adapt.settings.collect import CollectSettings
from isthmus.adapt.settings.components import Components
from isthmus.adapt.settings.fit import FitSettings


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
    may_retrain: bool = False
    """Let --method auto train the policy on, in the corrected simulator, where changing its actions is not enough."""
