"""Names that methods had before, as stored runs and command lines have them."""

OLD_NAMES = {
    "explained": "residual-action",
    "identified": "model-inverse",
    "grounded": "fine-tune",
    "in time": "delay-compensated",
}


def current_method(name: str) -> str:
    """The current name of a method, or of a variant of one, as in `identified, even weights`."""
    method, comma, variant = name.partition(",")
    return OLD_NAMES.get(method, method) + comma + variant


def old_file_name(name: str) -> str:
    """What a file was called before methods got their current names."""
    for old, current in OLD_NAMES.items():
        name = name.replace(f"-{current}-", f"-{old}-")
    return name
