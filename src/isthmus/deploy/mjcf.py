"""A robot's MuJoCo model as files of a bundle: MJCF, its assets, and the numbers that MJCF rounds.

MuJoCo writes MJCF with six digits, and leaves out what was changed after a model was compiled. So the bundle also has
every number of the compiled model that differs when its MJCF is compiled again. A model that is read from a bundle is
the one that was written, bit by bit.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree as Xml

import mujoco
import numpy as np

from isthmus.core import Problem
from isthmus.io import read_regular

ASSETS = "assets"
GROUPS = ("opt", "stat")
"""Structures of a model whose numbers are kept too, as in `opt.timestep`."""
LARGEST_XML = 8 << 20
LARGEST_ASSETS = 256 << 20
"""Bytes of the MJCF, and of all assets together."""
MOST_ASSETS = 1000
LARGEST_SIDE = 8192
"""Rows and columns of a texture or a height field at most."""
LARGEST_SIZE = 1 << 20
"""Of the buffers that a model may ask for."""
REFUSED = frozenset({"include", "extension", "plugin", "composite", "flexcomp", "replicate", "attach", "model"})
"""Elements that read other files, load code, or make much of little. MuJoCo writes none of them."""
NO_NUMBERS = frozenset({"nan", "inf", "infinity"})
SIDES = frozenset({"nrow", "ncol", "width", "height"})


@dataclass(frozen=True)
class ModelFiles:
    """What is written of a model."""

    xml: bytes
    assets: Mapping[str, bytes]
    """By name within the folder of assets."""
    numbers: Mapping[str, np.ndarray]
    """Those that differ from the compiled MJCF, by the names of their fields."""

    @staticmethod
    def of(spec: mujoco.MjSpec, model: mujoco.MjModel) -> "ModelFiles":
        """The files of `model`, which was compiled from `spec`."""
        folder, meshes, textures = spec.modelfiledir, spec.meshdir, spec.texturedir
        spec.compile()  # MJCF is written of a compiled specification
        tree = Xml.fromstring(spec.to_xml())  # noqa: S314 - MuJoCo has just written it
        assets = _collect_assets(tree, Path(folder or ""), meshes, textures)
        _give_inertias(tree, model)
        Xml.indent(tree)
        xml = Xml.tostring(tree, encoding="utf-8") + b"\n"
        return ModelFiles(xml, assets, _differences(model, _compiled(xml, assets)))

    def model(self) -> mujoco.MjModel:
        """The model; a ValueError where the files do not make one."""
        check_mjcf(self.xml, self.assets)
        model = _compiled(self.xml, self.assets)
        for name, values in self.numbers.items():
            _put(model, name, values)
        return model


def check_mjcf(xml: bytes, assets: Mapping[str, bytes]) -> None:
    """Refuse MJCF that reads files beside its assets, loads code, or asks for much memory, with a ValueError."""
    if len(xml) > LARGEST_XML:
        raise ValueError(f"the MJCF has more than {LARGEST_XML >> 20} MB")
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise ValueError("the MJCF has a document type, which MuJoCo does not write")
    try:
        tree = Xml.fromstring(xml)  # noqa: S314 - without a document type there are no entities to expand
    except Xml.ParseError as error:
        raise ValueError(f"the MJCF is not XML ({error})") from error
    for element in tree.iter():
        if element.tag in REFUSED:
            raise ValueError(f"the MJCF has <{element.tag}>, which a bundle does not need")
        for name, value in element.attrib.items():
            _check_attribute(element.tag, name, value, assets)


def _check_attribute(tag: str, name: str, value: str, assets: Mapping[str, bytes]) -> None:
    if name.startswith("file") and value not in assets:
        raise ValueError(f"the MJCF reads {value[:60]!r}, which is not among the bundle's assets")
    if tag == "compiler" and name.endswith("dir") and value != ASSETS:
        raise ValueError(f"the MJCF has its assets in {value[:60]!r}, expected {ASSETS!r}")
    if name in SIDES and tag in ("texture", "hfield") and not _is_whole(value, LARGEST_SIDE):
        raise ValueError(f"the MJCF has a {tag} whose {name} is {value[:20]}, at most {LARGEST_SIDE} will do")
    if tag == "size" and not _is_whole(value, LARGEST_SIZE):
        raise ValueError(f"the MJCF asks for a {name} of {value[:20]}, at most {LARGEST_SIZE} will do")
    if any(word.lower().lstrip("+-") in NO_NUMBERS for word in value.split()):
        raise ValueError(f"the MJCF has a {name} of {value[:40]!r}, which is no number")
    if tag == "mesh" and name in ("builtin", "params"):
        raise ValueError("the MJCF has a mesh that is computed, which a bundle does not need")


def _is_whole(value: str, most: int) -> bool:
    return value.strip().lstrip("-").isdecimal() and len(value) < 12 and int(value) <= most


def _compiled(xml: bytes, assets: Mapping[str, bytes]) -> mujoco.MjModel:
    found = {f"{ASSETS}/{name}": content for name, content in assets.items()}
    return mujoco.MjSpec.from_string(xml.decode("utf-8"), assets=found).compile()


def _collect_assets(tree: Xml.Element, folder: Path, meshes: str, textures: str) -> dict[str, bytes]:
    """The files that a model is made from, each under a name of its own, which the MJCF gets too."""
    assets: dict[str, bytes] = {}
    names: dict[Path, str] = {}
    for element in tree.iter():
        for attribute in [name for name in element.attrib if name.startswith("file")]:
            place = folder / (textures if element.tag == "texture" else meshes) / element.attrib[attribute]
            if place not in names:
                names[place] = _unused(PurePosixPath(place).name, assets)
                try:
                    assets[names[place]] = read_regular(place, limit=LARGEST_ASSETS, follow=True)
                except OSError as error:
                    raise Problem(f"cannot read {place}, which the robot's model needs: {error.strerror}") from error
            element.set(attribute, names[place])
    for compiler in tree.iter("compiler"):
        for name in ("meshdir", "texturedir", "assetdir"):
            compiler.attrib.pop(name, None)
        compiler.set("assetdir", ASSETS)
    return assets


def _unused(name: str, taken: Mapping[str, bytes]) -> str:
    number = 0
    while (f"{number}-{name}" if number else name) in taken:
        number += 1
    return f"{number}-{name}" if number else name


def _give_inertias(tree: Xml.Element, model: mujoco.MjModel) -> None:
    """MuJoCo does not write the inertia of a body that was given one without a shape: add it."""
    for body in tree.iter("body"):
        name = body.get("name")
        if not name or body.find("inertial") is not None or body.find("geom") is not None:
            continue
        found = model.body(name)
        if float(found.mass[0]) > 0:
            numbers = {"pos": found.ipos, "quat": found.iquat, "mass": found.mass, "diaginertia": found.inertia}
            given = {key: " ".join(f"{value:.17g}" for value in values) for key, values in numbers.items()}
            body.insert(0, Xml.Element("inertial", given))


def _fields(model: mujoco.MjModel) -> Iterator[tuple[str, Any]]:
    """The arrays of numbers of a model, and single numbers of some structures in it, by name."""
    for name in dir(model):
        if not name.startswith("_") and isinstance(value := getattr(model, name), np.ndarray):
            yield name, value
    for group in GROUPS:
        part = getattr(model, group)
        for name in dir(part):
            if not name.startswith("_") and isinstance(value := getattr(part, name), np.ndarray | float | int):
                yield f"{group}.{name}", value


def _differences(model: mujoco.MjModel, compiled: mujoco.MjModel) -> dict[str, np.ndarray]:
    theirs, different = dict(_fields(compiled)), dict[str, np.ndarray]()
    for name, value in _fields(model):
        ours, other = np.asarray(value), np.asarray(theirs[name])
        if ours.dtype.kind not in "fiub" or name.endswith("pathadr"):  # where files were is no part of the physics
            continue
        if ours.shape != other.shape:
            raise Problem(f"the robot's model cannot be written as MJCF: {name} has {ours.shape}, then {other.shape}")
        if ours.tobytes() != other.tobytes():  # -0.0 is another number here
            different[name] = ours.copy()
    return different


def _put(model: mujoco.MjModel, name: str, values: np.ndarray) -> None:
    """Give a field of a model its values; a ValueError where they cannot be its own."""
    group, _, field = name.rpartition(".")
    holder: Any = getattr(model, group) if group in GROUPS else model
    now: Any = None if field.startswith("_") or (group and group not in GROUPS) else getattr(holder, field, None)
    ours: np.ndarray = np.asarray(now)
    if not isinstance(now, np.ndarray | float | int) or ours.shape != values.shape:
        raise ValueError(f"the model has no {name[:40]} of shape {values.shape}")
    if ours.dtype.kind not in "fiub" or values.dtype.kind != ours.dtype.kind:
        raise ValueError(f"the model's {name} holds other kinds of numbers")
    if ours.dtype.kind == "f" and not (np.isfinite(values) | (values == ours)).all():
        raise ValueError(f"the model's {name} is not finite")
    if ours.ndim and ours.dtype.kind != "f" and not np.array_equal(np.sort(values.ravel()), np.sort(ours.ravel())):
        raise ValueError(f"the model's {name} refers to what is not there")  # an index beyond an array's end, say
    if isinstance(now, np.ndarray):
        now[...] = values
    else:
        try:
            setattr(holder, field, type(now)(values))
        except TypeError:  # an integer that is too large for C
            raise ValueError(f"the model's {name} is out of range") from None


def model_digest(model: mujoco.MjModel) -> str:
    """Tells the numbers of a model from those of any other; where its files were does not count."""
    content = hashlib.blake2b(digest_size=16)
    for name, value in _fields(model):
        numbers = np.asarray(value)
        if numbers.dtype.kind in "fiub" and not name.endswith("pathadr"):
            content.update(
                f"{name}{numbers.shape}{numbers.dtype.str}".encode() + np.ascontiguousarray(numbers).tobytes()
            )
    return content.hexdigest()
