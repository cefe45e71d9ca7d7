"""Ways to spoil a file."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

INTERESTING = (0, 1, 2, 3, 4, 7, 8, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutate(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """One seed, spoilt one to four times."""
    weights = [1 / (1024 + len(seed)) for seed in seeds]  # small ones take less time
    data = bytearray(rng.choices(seeds, weights)[0])
    for _ in range(rng.randint(1, 4)):
        rng.choice(_WAYS)(data, seeds, rng)
    return bytes(data)


def _flip_bits(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    for _ in range(rng.randint(1, 8)):
        if data:
            data[_place(data, rng)] ^= 1 << rng.randrange(8)


def _set_byte(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    if data:
        data[_place(data, rng)] = rng.randrange(256)


def _truncate(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    del data[_place(data, rng) if data else 0 :]


def _insert(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    at = _place(data, rng) if data else 0
    data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 64)))


def _delete(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    at = _place(data, rng) if data else 0
    del data[at : at + rng.choice((1, 2, 4, 8, 64))]


def _splice(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    """A stretch of another seed over, or into, this one."""
    other = rng.choice(seeds)
    start = rng.randrange(len(other))
    piece = other[start : start + rng.choice((4, 16, 64, 512))]
    at = _place(data, rng) if data else 0
    data[at : at + rng.choice((0, len(piece)))] = piece


def _edit_number(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    """An aligned 32-bit number (an offset, a length, an index) changed in a telling way."""
    if len(data) < 8:
        return
    at = _place(data, rng) & ~3
    at = min(at, len(data) - 4)
    (value,) = struct.unpack_from("<I", data, at)
    choices = (rng.choice(INTERESTING), value + rng.randint(-8, 8), len(data) - at, value * 2)
    struct.pack_into("<I", data, at, rng.choice(choices) & 0xFFFFFFFF)


def _edit_long(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    """A 64-bit number: header fields, segment offsets and sizes."""
    if len(data) >= 48:
        at = rng.choice((16, 24, 32, 40, _place(data, rng) & ~7))
        value = rng.choice((0, 1, len(data), len(data) - 1, 1 << 32, 1 << 63, (1 << 64) - 1))
        struct.pack_into("<Q", data, min(at, len(data) - 8), value)


def _share(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    """Make one offset point where another one does."""
    if len(data) < 16:
        return
    one, other = (min(_place(data, rng) & ~3, len(data) - 4) for _ in range(2))
    (value,) = struct.unpack_from("<I", data, other)
    struct.pack_into("<I", data, one, (other + value - one) & 0xFFFFFFFF)


def _place(data: bytearray, rng: random.Random) -> int:
    """A byte, more often near the beginning, where the tables are."""
    return min(rng.randrange(len(data)), rng.randrange(len(data)), 4096 + rng.randrange(len(data)))


_WAYS: tuple[Callable[[bytearray, Sequence[bytes], random.Random], None], ...] = (
    _flip_bits,
    _set_byte,
    _truncate,
    _insert,
    _delete,
    _splice,
    _edit_number,
    _edit_number,
    _edit_long,
    _share,
)
