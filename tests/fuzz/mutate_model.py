"""Ways to spoil a Core ML model: its protobuf field by field, its text word by word, any bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError, Message

from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.proto.model_pb2 import Model
from tests.fuzz.model_files import Files
from tests.fuzz.mutate import INTERESTING, mutate

_NUMBERS = (*INTERESTING, -1, -2, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63))
_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_@/][\w@/.]*|-?[\d.]+|->|\S')
_Place = tuple[Message, Any]


def mutate_model(models: list[Files], rng: random.Random) -> Files:
    """One of the models with one to three things wrong in one of its files."""
    files = dict(rng.choice(models))
    path = rng.choice(sorted(files))
    if path.endswith((".mlmodel", ".mil")) and rng.random() < 0.9:
        spoil = _spoil_specification if path.endswith(".mlmodel") else _spoil_text
        files[path] = spoil(files[path], rng)
    elif rng.random() < 0.05:
        del files[path]
    else:
        files[path] = mutate([files[path] or b"\0"], rng)
    return files


def _spoil_text(text: bytes, rng: random.Random) -> bytes:
    words = _WORDS.findall(text.decode())
    for _ in range(rng.randint(1, 3)):
        at, other = rng.randrange(len(words)), rng.randrange(len(words))
        way = rng.randrange(5)
        if way == 0:
            del words[at]
        elif way == 1:
            words[at:at] = words[other : other + rng.choice((1, 1, 5, 40))]
        elif way == 2:
            words[at] = words[other]
        elif way == 3:
            numbers = [place for place, word in enumerate(words) if word[0].isdigit()]
            words[rng.choice(numbers)] = str(rng.choice(_NUMBERS))
        else:
            words[at] *= rng.choice((2, 200))
    return " ".join(words).encode()


def _spoil_specification(data: bytes, rng: random.Random) -> bytes:
    model = Model.FromString(data)
    for _ in range(rng.randint(1, 3)):
        places = [(m, f) for m in _messages(model) for f, _ in m.ListFields()]
        if places:
            _spoil(rng.choice(places), places, rng)
    try:
        return model.SerializeToString(deterministic=True)
    except (ValueError, DecodeError):  # nested too deep even to be written
        return data


def _messages(message: Message) -> Iterator[Message]:
    """The message and all inside it, in an order that does not depend on how maps are kept."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].message_type is not None:
                for key in sorted(value):
                    yield from _messages(value[key])
        elif field.is_repeated:
            for item in value:
                yield from _messages(item)
        else:
            yield from _messages(value)


def _spoil(place: _Place, places: list[_Place], rng: random.Random) -> None:
    message, field = place
    value = getattr(message, field.name)
    if rng.random() < 0.1:
        message.ClearField(field.name)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        _spoil_map(value, field, rng)
    elif field.is_repeated:
        _spoil_list(value, field, places, rng)
    elif field.message_type is not None:
        _spoil_message(value, places, rng)
    else:
        setattr(message, field.name, _other_scalar(value, field, places, rng))


def _spoil_map(value: Any, field: Any, rng: random.Random) -> None:
    keys = sorted(value)
    one, other = rng.choice(keys), rng.choice([*keys, "x", "y", "main", ""])
    if field.message_type.fields_by_name["value"].message_type is None:
        value[other] = value[one]
    else:
        value[other].CopyFrom(value[one])
    if rng.random() < 0.5 and len(value) > 1:
        del value[one]


def _spoil_list(value: Any, field: Any, places: list[_Place], rng: random.Random) -> None:
    items = list(value)
    if not items:
        return
    at, other = rng.randrange(len(items)), rng.randrange(len(items))
    way = rng.randrange(4)
    if way == 0:
        del value[at]
    elif way == 1:
        value.extend([items[at]] * rng.choice((1, 1, 3, 300)))
    elif field.message_type is not None:
        value[at].CopyFrom(items[other])
    elif way == 2:
        value[at] = items[other]
    else:
        value[at] = _other_scalar(value[at], field, places, rng)


def _spoil_message(value: Message, places: list[_Place], rng: random.Random) -> None:
    """Another message of its kind, or itself inside of itself, some levels deep."""
    kind = value.DESCRIPTOR.full_name
    if isinstance(value, mil.ValueType) and rng.random() < 0.2:
        for _ in range(rng.choice((1, 3, 40))):
            inner = mil.ValueType()
            inner.CopyFrom(value)
            value.listType.type.CopyFrom(inner)
        return
    alike = [m for m, _ in places if m.DESCRIPTOR.full_name == kind and m is not value]
    if alike:
        other = type(value)()  # it may lie inside of what it replaces
        other.CopyFrom(rng.choice(alike))
        value.CopyFrom(other)


def _other_scalar(value: Any, field: Any, places: list[_Place], rng: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        texts = {getattr(m, f.name) for m, f in places if isinstance(getattr(m, f.name), str)}
        return rng.choice([*sorted(texts), "", "CoreML9", "ios99", "\u00fc" * 9])
    if isinstance(value, bytes):
        return mutate([value or b"\0"], rng)
    if isinstance(value, float):
        return rng.choice((0.0, -1.0, 1e30, float("nan"), float("inf"), value * 2))
    if field.enum_type is not None:
        return rng.randrange(64)
    low, high = _LIMITS[field.type]
    fitting = [number for number in (*_NUMBERS, value + 1, value - 1) if low <= number < high]
    return rng.choice(fitting)


def _bits(count: int, signed: bool) -> tuple[int, int]:
    return (-(1 << (count - 1)), 1 << (count - 1)) if signed else (0, 1 << count)


_FIELD = type(Model.DESCRIPTOR.fields[0])
_LIMITS = {
    _FIELD.TYPE_INT64: _bits(64, True),
    _FIELD.TYPE_UINT64: _bits(64, False),
    _FIELD.TYPE_INT32: _bits(32, True),
    _FIELD.TYPE_UINT32: _bits(32, False),
    _FIELD.TYPE_SINT32: _bits(32, True),
    _FIELD.TYPE_SINT64: _bits(64, True),
}
