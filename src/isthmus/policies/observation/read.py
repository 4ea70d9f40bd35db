"""Read observation specs: TOML and JSON files, presets, and single edits such as `term.joint_vel.scale=0.05`."""

import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeGuard, cast

from isthmus.core import Problem, unknown_name
from isthmus.io import read_regular
from isthmus.policies.observation.presets import PRESETS
from isthmus.policies.observation.spec import KINDS, OPTIONS, ActionSpec, ObservationSpec, StackSpec, TermSpec

Document = dict[str, Any]
"""A spec as plain data, as in a TOML file."""
LARGEST = 1 << 20
"""Bytes of a file."""
TOP = ("preset", "joints", "default_pose", "terms", "term", "clip", "stack", "actions")
COMMON = ("kind", "scale", "offset", "clip")
FROM = "from"
"""What a file calls `TermSpec.source`."""


def read_spec(text: str, edits: Sequence[str] = ()) -> ObservationSpec:
    """The spec of a preset or in a TOML or JSON file, with edits applied to it."""
    return parse_spec(_document(text), edits)


def parse_spec(document: Mapping[str, Any], edits: Sequence[str] = ()) -> ObservationSpec:
    """The spec that plain data says, with edits applied to it; data beside a preset's name changes the preset."""
    data: Document = dict(document)
    if preset := data.pop("preset", None):
        if preset not in PRESETS:
            raise unknown_name("preset of observations", str(preset), PRESETS)
        data = _merged(PRESETS[preset], data)
    for edit in edits:
        data = _with(data, edit)
    return _parsed(data)


def edited(spec: ObservationSpec, *edits: str) -> ObservationSpec:
    """The same spec with edits such as `stack.order=newest first` applied to it."""
    return parse_spec(as_document(spec), edits)


def as_document(spec: ObservationSpec) -> Document:
    """A spec as plain data that `parse_spec` reads back as the same; what is as usual is left out."""
    terms = {
        term.name: {FROM if key == "source" else key: _plain(value) for key, value in _unusual(term, ("name",))}
        for term in spec.terms
    }
    document: Document = {"terms": [term.name for term in spec.terms], "term": terms}
    if spec.joints:
        document["joints"] = list(spec.joints)
    document["default_pose"] = spec.default_pose if isinstance(spec.default_pose, str) else dict(spec.default_pose)
    if spec.clip is not None:
        document["clip"] = spec.clip
    for name, part in (("stack", spec.stack), ("actions", spec.actions)):
        document[name] = {key: _plain(value) for key, value in _unusual(part, ())}
    return document


def _unusual(part: Any, without: Sequence[str]) -> Iterable[tuple[str, Any]]:  # noqa: ANN401 - a spec's part
    return [
        (one.name, getattr(part, one.name))
        for one in fields(part)
        if one.name not in without and (one.name == "kind" or getattr(part, one.name) != one.default)
    ]


def _plain(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _document(text: str) -> Document:
    if text in PRESETS:
        return {"preset": text}
    path = Path(text)
    if not path.suffix and not path.exists():
        raise unknown_name("preset of observations", text, [*PRESETS, "a TOML file"])
    try:
        content = read_regular(path, limit=LARGEST, follow=True)
    except FileNotFoundError as error:
        raise Problem(
            f"there is no observation spec at {path}: give a TOML file, or one of {', '.join(PRESETS)}"
        ) from error
    except OSError as error:
        raise Problem(f"cannot read the observation spec {path}: {error.strerror}") from error
    kind = "JSON" if path.suffix == ".json" else "TOML"
    try:
        read: object = json.loads(content) if kind == "JSON" else tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:  # the errors of both readers are ValueErrors
        raise Problem(f"{path} is no {kind} file: {error}") from error
    return dict(_table(read, str(path)))


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Document:
    """What `above` says, and where it says nothing what `below` says; tables are merged key by key."""
    merged: Document = dict(below)
    for key, value in above.items():
        merged[key] = _merged(merged[key], value) if _is_table(value) and _is_table(merged.get(key)) else value
    if _is_table(tables := merged.get("term")) and isinstance(terms := merged.get("terms"), list | tuple):
        unused = {name for name in below.get("term", {}) if name not in terms and name not in above.get("term", {})}
        merged["term"] = {name: table for name, table in tables.items() if name not in unused}
    return merged


def _with(document: Document, edit: str) -> Document:
    """The document with one value replaced: `path.to.key=value`, the value as in TOML; a bare word is a text."""
    path, equals, text = (part.strip() for part in edit.partition("="))
    if not path or not equals or not text:
        raise Problem(f"{edit!r} is no edit of an observation spec: give KEY=VALUE, as in term.joint_vel.scale=0.05")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        value = text
    *tables, last = path.split(".")
    changed = at = dict(document)
    for name in tables:
        inner: object = at.get(name, {})
        if not _is_table(inner):
            raise Problem(f"{edit!r} edits {name!r}, which is no table of the observation spec")
        at[name] = at = dict(inner)
    at[last] = value
    return changed


def _parsed(data: Document) -> ObservationSpec:
    _known("observation spec", data, TOP)
    names = _texts(data.get("terms", ()), "terms")
    tables = _table(data.get("term", {}), "term")
    for name in tables:
        if name not in names:
            raise unknown_name("term of this observation spec:", name, names)
    joints = _texts(data.get("joints", ()), "joints")
    actions, stack = (_table(data.get(name, {}), name) for name in ("actions", "stack"))
    _known("actions", actions, [one.name for one in fields(ActionSpec)])
    _known("stack", stack, [one.name for one in fields(StackSpec)])
    return ObservationSpec(
        terms=tuple(_term(name, _table(tables.get(name, {}), f"term.{name}")) for name in names),
        joints=joints,
        default_pose=_pose(data.get("default_pose", "reference"), joints),
        clip=None if "clip" not in data else _number(data["clip"], "clip"),
        stack=StackSpec(**_checked(StackSpec, stack, "stack")),
        actions=ActionSpec(**_checked(ActionSpec, actions, "actions")),
    )


def _term(name: str, table: Mapping[str, Any]) -> TermSpec:
    kind = table.get("kind", name)
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown_name("term of observations:", str(kind), KINDS)
    options = sorted(FROM if one == "source" else one for one in OPTIONS.get(kind, ()))
    _known(f"term {name!r}", table, [*COMMON, *options])
    data = {"source" if key == FROM else key: value for key, value in table.items() if key != "kind"}
    if "clip" in data:
        data["clip"] = _limits(data["clip"], f"term.{name}.clip")
    return TermSpec(name=name, kind=kind, **_checked(TermSpec, data, f"term.{name}"))


def _limits(value: object, where: str) -> tuple[float, float]:
    if isinstance(value, list | tuple):
        numbers = _numbers(cast("Sequence[object]", value), where)
        if len(numbers) == 2:
            return numbers[0], numbers[1]
        raise Problem(f"{where} must be a number, or a lower and an upper limit, got {len(numbers)} numbers")
    most = _number(value, where)
    return -most, most


def _pose(value: object, joints: tuple[str, ...]) -> str | tuple[tuple[str, float], ...]:
    if isinstance(value, str):
        return value
    if _is_table(value):
        return tuple((joint, _number(angle, f"default_pose.{joint}")) for joint, angle in value.items())
    if not isinstance(value, list | tuple):
        raise Problem("default_pose must be the name of a pose, a table of angles by joint, or a list in joints' order")
    angles = _numbers(cast("Sequence[object]", value), "default_pose")
    if len(angles) != len(joints):
        raise Problem(
            f"default_pose has {len(angles)} angles in the order of joints, but joints names {len(joints)}: name the "
            "joints, or give a table of angles by joint"
        )
    return tuple(zip(joints, angles, strict=True))


def _checked(kind: type, data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Values of the types that the fields of `kind` have."""
    usual = {one.name: one for one in fields(kind)}
    made: dict[str, Any] = {}
    for key, value in data.items():
        place, annotation = f"{where}.{FROM if key == 'source' else key}", str(usual[key].type)
        if key == "scale" or (key == "offset" and kind is TermSpec):
            made[key] = _numbers(value, place) if _is_list(value) else _number(value, place)
        elif key in ("joints", "source", "shifts"):
            made[key] = _sequence(key, value, place)
        elif key in ("lag", "frames"):
            if not isinstance(value, int) or isinstance(value, bool):
                raise Problem(f"{place} must be a whole number, got {value!r}")
            made[key] = value
        elif usual[key].type is bool:
            if not isinstance(value, bool):
                raise Problem(f"{place} must be true or false, got {value!r}")
            made[key] = value
        elif "float" in annotation and "tuple" not in annotation:
            made[key] = _number(value, place)
        elif key == "clip":
            made[key] = value
        else:
            made[key] = _text(value, place)
    return made


def _sequence(key: str, value: object, where: str) -> tuple[Any, ...]:
    if key == "joints":
        return _texts(value, where)
    if not _is_list(value) or not value:
        raise Problem(f"{where} must be a list, got {str(value)[:60]!r}")
    if key == "shifts":
        return _numbers(value, where)
    return tuple(one if isinstance(one, str) else _number(one, where) for one in value)


def _known(what: str, table: Mapping[str, Any], keys: Iterable[str]) -> None:
    choices = list(keys)
    for key in table:
        if key not in choices:
            raise unknown_name(f"key of the {what}:", str(key), choices)


def _table(value: object, where: str) -> Mapping[str, Any]:
    if not _is_table(value):
        raise Problem(f"{where} must be a table, got {str(value)[:60]!r}")
    return value


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _is_table(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not _is_list(value) or not all(isinstance(one, str) for one in value):
        raise Problem(f"{where} must be a list of names, got {str(value)[:60]!r}")
    return tuple(cast("Sequence[str]", value))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise Problem(f"{where} must be a text, got {str(value)[:60]!r}")
    return value


def _numbers(value: Sequence[object], where: str) -> tuple[float, ...]:
    return tuple(_number(one, where) for one in value)


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Problem(f"{where} must be a finite number, got {str(value)[:60]!r}")
    return float(value)
