"""What became of a weight on its way into a payload: for the lowering report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WeightRecord:
    """One constant of a payload that is, or could have been, stored compressed.

    Attributes:
        name: of the model's tensor, or the payload's own name for a constant made of several.
        dtype, shape: as the payload's operations see it.
        bytes: its size in that dtype.
        stored_bytes: what it takes in the payload, with scales, offsets and tables.
        stored_as: how it is stored, such as ``int4``; its dtype where it is not compressed.
        reason: why it is not compressed; empty if it is.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    stored_bytes: int
    stored_as: str
    reason: str = ""


def summary(weights: tuple[WeightRecord, ...]) -> str:
    """One line: how many are compressed and how far, and for what reasons the others are not."""
    made = [weight for weight in weights if not weight.reason]
    left: dict[str, list[str]] = {}
    for weight in weights:
        if weight.reason:
            left.setdefault(weight.reason, []).append(weight.name)
    before, after = sum(w.bytes for w in weights), sum(w.stored_bytes for w in weights)
    formats = ", ".join(sorted({weight.stored_as for weight in made}))
    said = f"{len(made)} of {len(weights)} compressed"
    said += f" ({formats})" if formats else ""
    said += f", {before:,} -> {after:,} bytes"
    return "; ".join([said, *(f"{_named(names)}: {reason}" for reason, names in left.items())])


def _named(names: list[str]) -> str:
    shown = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    return ", ".join(shown)
