"""Every randomisation of the renderings, with its range, as one typed value."""

from dataclasses import dataclass, fields

from isthmus.core import Problem, check_range
from isthmus.vision.ranges import Range

KINDS = ("flat", "gradient", "checker", "noise")
MOST_DISTRACTORS, MOST_LIGHTS = 10, 4


@dataclass(frozen=True)
class Randomise:
    """What differs from one rendering to the next. Lengths are in metres, image lengths in pixels."""

    distractors: Range = Range(0, 10)
    """How many other objects lie on the table."""
    distractor_size: Range = Range(0.015, 0.05)
    """Half an edge, or the radius, of a distractor."""
    hard: float = 0.25
    """Share of distractors with the target's own colours, or with its shape in another size."""
    tumbled: float = 0.25
    """Share of distractors that lie in any orientation; the others stand upright at any yaw."""
    occluded: float = 0.4
    """Share of images with distractors where one stands between camera and target."""
    own_look: bool = False
    """Keep the target's own material. Otherwise it has random textures too, and only its shape tells it from others."""
    textures: int = 400
    """How many textures there are for everything in the scene."""
    kinds: tuple[str, ...] = KINDS
    """Kinds of texture."""
    surroundings: float = 0.25
    """How far everything but the table moves from its place, at most."""
    lights: Range = Range(1, 4)
    """How many lights there are."""
    light_height: Range = Range(0.8, 2.2)
    """Of a light above the table."""
    light_reach: float = 1.5
    """How far a light may be from above the table's centre."""
    brightness: Range = Range(0.15, 0.9)
    """Diffuse intensity of a light."""
    light_tint: float = 0.25
    """How much less of a colour than of another a light has, at most."""
    specular: Range = Range(0, 0.8)
    """Specular intensity of a light."""
    ambient: Range = Range(0.1, 0.6)
    """Light from everywhere."""
    shadow: float = 0.25
    """Share of images with a shadow."""
    camera: tuple[float, float, float] = (0.10, 0.05, 0.10)
    """Edges of the box that the camera is in, in its own right, up and forward directions."""
    camera_angle: float = 0.1
    """How far the camera is rotated, at most, in rad."""
    field_of_view: Range = Range(0.95, 1.05)
    """Times the scene's own."""
    noise: Range = Range(0, 0.06)
    """Standard deviation of pixel noise; white is 1."""
    blur: Range = Range(0, 1.2)
    """Standard deviation of a Gaussian blur."""
    exposure: Range = Range(0.7, 1.4)
    """Factor on all pixels."""
    gamma: Range = Range(0.6, 1.6)
    """Exponent on all pixels."""
    tint: Range = Range(0.85, 1.15)
    """Factor on each colour."""

    def __post_init__(self) -> None:
        for name in ("hard", "tumbled", "occluded", "shadow"):
            check_range(f"randomise.{name}", getattr(self, name), 0, 1)
        _check(self.distractors, "randomise.distractors", 0, MOST_DISTRACTORS)
        _check(self.lights, "randomise.lights", 1, MOST_LIGHTS)
        _check(self.distractor_size, "randomise.distractor-size", 1e-3, 1)
        _check(self.field_of_view, "randomise.field-of-view", 0.5, 1.5)
        _check(self.light_height, "randomise.light-height", 0.1, 100)
        _check(self.gamma, "randomise.gamma", 0.1, 10)
        for name in ("brightness", "specular", "ambient", "noise"):
            _check(getattr(self, name), f"randomise.{name}", 0, 1)
        _check(self.blur, "randomise.blur", 0, 20)
        for name in ("exposure", "tint"):
            _check(getattr(self, name), f"randomise.{name}", 0.01, 100)
        check_range("randomise.textures", self.textures, 1, 5000)
        check_range("randomise.camera-angle", self.camera_angle, 0, 1)
        check_range("randomise.surroundings", self.surroundings, 0, 10)
        check_range("randomise.light-reach", self.light_reach, 0, 100)
        check_range("randomise.light-tint", self.light_tint, 0, 1)
        for edge in self.camera:
            check_range("randomise.camera", edge, 0, 1)
        unknown = set(self.kinds) - set(KINDS)
        if unknown or not self.kinds:
            raise Problem(f"randomise.kinds must be some of {', '.join(KINDS)}, got {', '.join(self.kinds) or 'none'}")

    def to_json(self) -> dict[str, object]:
        """As plain data; a range is a list of its ends."""
        plain: dict[str, object] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            plain[field.name] = {"low": value.low, "high": value.high} if isinstance(value, Range) else value
        return plain


def _check(value: Range, name: str, least: float, most: float) -> None:
    check_range(name, value.low, least, most)
    check_range(name, value.high, least, most)
