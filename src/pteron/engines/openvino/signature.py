"""Signatures of a package's functions, and their place in the compiled model's manifest."""

from __future__ import annotations

from typing import Any

from pteron.engines.base import Default, FunctionInfo, ValueInfo


def to_json(info: FunctionInfo) -> dict[str, Any]:
    """A signature as JSON can hold it."""
    return {
        "name": info.name,
        **{kind: [_value(v) for v in getattr(info, kind)] for kind in _KINDS},
    }


def from_json(data: dict[str, Any]) -> FunctionInfo:
    """The signature that :func:`to_json` wrote down."""
    values = {kind: tuple(_from_value(v) for v in data[kind]) for kind in _KINDS}
    return FunctionInfo(data["name"], **values)


_KINDS = ("inputs", "outputs", "states")


def _value(info: ValueInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "dtype": info.dtype,
        "shape": list(info.shape),
        "range": [list(bounds) for bounds in info.range],
        "shapes": [list(shape) for shape in info.shapes],
        "default": info.default and [info.default.number, list(info.default.shape)],
        "image": info.image,
    }


def _from_value(data: dict[str, Any]) -> ValueInfo:
    bounds = tuple((low, high) for low, high in data["range"])
    default = data["default"] and Default(data["default"][0], tuple(data["default"][1]))
    return ValueInfo(
        data["name"],
        data["dtype"],
        tuple(data["shape"]),
        bounds,
        tuple(map(tuple, data["shapes"])),
        default,
        data["image"],
    )
