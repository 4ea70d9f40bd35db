"""The settings of methods, apart from the methods themselves."""

from isthmus.adapt.settings.collect import CollectSettings
from isthmus.adapt.settings.components import Components
from isthmus.adapt.settings.fit import FitSettings
from isthmus.adapt.settings.method import MethodSettings

__all__ = ["CollectSettings", "Components", "FitSettings", "MethodSettings"]
