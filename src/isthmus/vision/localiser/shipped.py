"""The localisers that come with Isthmus, each with the settings it was trained by and the figures it reached."""

from pathlib import Path

SHIPPED = Path(__file__).parents[1] / "localisers"


def shipped_names() -> list[str]:
    """What they are called: scene and object."""
    return sorted(one.name for one in SHIPPED.glob("*") if one.is_dir())


def localiser_folder(name: Path) -> Path:
    """The folder of a localiser: the one that is named, or one that ships under that name."""
    shipped = SHIPPED / name
    return shipped if str(name) in shipped_names() and not name.exists() else name
