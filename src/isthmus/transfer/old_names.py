"""Names that earlier versions wrote into run folders, which can still be read."""

from collections.abc import Mapping
from typing import Any, cast

from isthmus.adapt.common.method_names import OLD_NAMES, current_method

CONFIG = {
    "stops": "round_ends",
    "enough": "stop_at_score",
    "glances": "interim_episodes",
    "parts": "components",
    "lines": "regression",
    "following": "observer",
    "doubt": "cross_validation",
    "price": "effort_penalty",
}
ROUND = {"spread": "action_std", "foreseen": "predicted_scores"}
RESULT = {"spread": "std", "loss_in_spreads": "loss_in_stds"}
METHOD_KEYS = ("method", "chosen")
"""Keys whose values are names of methods."""


def current_names(data: Any, keys: Mapping[str, str]) -> Any:  # noqa: ANN401 - it is what a JSON file holds
    """Plain data with its keys, and the methods it names, by their current names."""
    if isinstance(data, dict):
        found = cast("dict[str, Any]", data)
        return {_current_key(key, keys): _current_value(key, value, keys) for key, value in found.items()}
    if isinstance(data, list):
        return [current_names(one, keys) for one in cast("list[Any]", data)]
    return data


def _current_key(key: str, keys: Mapping[str, str]) -> str:
    return current_method(key) if key.partition(",")[0] in OLD_NAMES else keys.get(key, key)


def _current_value(key: str, value: Any, keys: Mapping[str, str]) -> Any:  # noqa: ANN401
    is_method = key in METHOD_KEYS and isinstance(value, str)
    return current_method(value) if is_method else current_names(value, keys)
