"""Hostile in-memory file systems: each fault is a FormatError that says what and where."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pteron.errors import FormatError, PteronError
from pteron.payloads.coreml.memfs import flatten, unflatten

DATA = b"hello world"


def file(name, offset=0, size=5, **more):
    region = {"offset": offset, "size": size}
    return {"name": name, "kind": 0, "dataRegion": region, "children": {}, **more}


def folder(name, **children):
    return {"name": name, "kind": 1, "dataRegion": {}, "children": children}


def payload(*nodes, data=DATA):
    return data + json.dumps({"nodes": list(nodes)}).encode()[::-1]


def nested(depth):
    nodes = [file("f")]
    for level in range(depth):
        nodes.append(folder("d", **{nodes[-1]["name"]: level}))
    return payload(*nodes)


FAULTS = {
    "nothing": (b"", "no index"),
    "no index": (b"just text", "no index"),
    "not an object": (DATA + b"]1[", "not a JSON object"),
    "no nodes": (DATA + b"}{", "no list of nodes"),
    "empty nodes": (payload(), "no list of nodes"),
    "node is no object": (payload(1), r"index\.nodes\[0\]: expected an object"),
    "path escape": (payload(file(".."), folder("r", **{"..": 0})), "not a name"),
    "slash": (payload(file("../a"), folder("r", **{"../a": 0})), "contains /"),
    "absolute": (payload(file("/a"), folder("r", **{"/a": 0})), "contains /"),
    "backslash": (payload(file("a\\b"), folder("r", **{"a\\b": 0})), r"contains \\"),
    "drive": (payload(file("c:x"), folder("r", **{"c:x": 0})), "drive"),
    "nul": (payload(file("a\0"), folder("r", **{"a\0": 0})), "NUL"),
    "empty name": (payload(file(""), folder("r", **{"": 0})), "not a name"),
    "long name": (payload(file("n" * 256), folder("r", **{"n" * 256: 0})), "over 255 bytes"),
    "surrogate": (payload(file("\ud800"), folder("r", **{"\ud800": 0})), "surrogate"),
    "other name": (payload(file("a"), folder("r", b=0)), "names node 'a'"),
    "past the end": (payload(file("a", 8), folder("r", a=0)), r"a: offset 8 \+ size 5 is past"),
    "into the index": (payload(file("a", 0, 12), folder("r", a=0)), "past the files' end"),
    "huge offset": (payload(file("a", 2**64), folder("r", a=0)), "past the files' end"),
    "negative": (payload(file("a", -1), folder("r", a=0)), "from 0 up"),
    "fraction": (payload(file("a", 1.5), folder("r", a=0)), "whole number"),
    "truth": (payload(file("a", True), folder("r", a=0)), "whole number"),
    "overlap": (payload(file("a"), file("b", 4), folder("r", a=0, b=1)), "b: shares bytes with a"),
    "same bytes": (payload(file("a"), file("b"), folder("r", a=0, b=1)), "shares bytes"),
    "cycle": (payload(folder("a", a=0), folder("r", a=0)), "comes later"),
    "later child": (payload(folder("a", b=1), file("b"), folder("r", a=0)), "comes later"),
    "two parents": (
        payload(file("a"), folder("d", a=0), folder("r", a=0, d=1)),
        "comes later or has a parent",
    ),
    "orphan": (payload(file("a"), file("b", 5), folder("r", a=0)), r"nodes\[1\]: is in no"),
    "root is a file": (payload(file("a")), "root is not a directory"),
    "kind": (payload(file("a", kind=2), folder("r", a=0)), "neither a file nor"),
    "kind is a list": (payload(file("a", kind=[]), folder("r", a=0)), "neither a file nor"),
    "name is a number": (payload(file(5), folder("r")), "expected a string"),
    "deep": (nested(40), "levels of directories"),
    "duplicate key": (DATA + b'}1:"a",1:"a"{', "appears twice"),
    "deep JSON": (b"[" * 100_000, "no index"),
    "huge number": (b"{:1" + b"9" * 100_000 + b":", "no index"),
    "huge index": (b" " * 10 + json.dumps({"nodes": [0] * 999_999}).encode()[::-1], "no index"),
}


@pytest.mark.parametrize(("data", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_is_a_format_error(data: bytes, message: str):
    with pytest.raises(FormatError, match=message):
        unflatten(data)


@pytest.mark.parametrize("filler", [b"}{,", b"][,", b"}]{[,", b'"",', b"]]]"])
def test_time_and_memory_are_bounded_by_size(filler: bytes):
    data = bytes(4 << 20) + b"}" + (b"]" + filler * (1 << 20) + b'[:"sedon"{')
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises(FormatError):
        unflatten(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.perf_counter() - started < 2
    assert peak < (64 << 20) + 4 * len(data)


GOOD = flatten({"a/b": b"x" * 40, "c": b"y" * 3, "metadata.json": b"{}"})


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.integers(0, len(GOOD)))
def test_mutations_give_files_or_an_error(position: int, value: int, cut: int):
    data = bytearray(GOOD)
    data[position] = value
    for candidate in (bytes(data), GOOD[:cut], GOOD[cut:]):
        try:
            files = unflatten(candidate)
        except PteronError:
            continue
        assert sum(map(len, files.values())) <= len(candidate)
