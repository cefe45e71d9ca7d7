"""Which value inside a payload is which node of the graph it was made from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

_CAST = re.compile(r"(_cast)?(_to)?_(fp16|fp32|uint16|int16|int32)(_dtype_\d+)?$")
_NUMBER = re.compile(r"_(\d+)$")


def matched(
    values: Mapping[str, Sequence[int]], nodes: Mapping[str, Sequence[int]]
) -> dict[str, str]:
    """Value -> node, for values (name -> shape) that seem to stand for a node; in the nodes' order.

    coremltools names a value after its node, with a cast's suffix and often another number. So
    values and nodes of one stem (``linear_1``, ``linear_2``) are paired by rising number, if there
    are as many of each, in the same shapes.
    """
    of_values, of_nodes = _stems(values), _stems(nodes)
    pairs: dict[str, str] = {}
    for stem, names in of_values.items():
        candidates = of_nodes.get(stem, [])
        if [list(values[n]) for n in names] == [list(nodes[c]) for c in candidates]:
            pairs.update(zip(names, candidates, strict=True))
    position = {node: number for number, node in enumerate(nodes)}
    return dict(sorted(pairs.items(), key=lambda pair: position[pair[1]]))


def _stems(names: Mapping[str, Sequence[int]]) -> dict[str, list[str]]:
    """Names by stem, by rising number; of those that differ by their casts only the last."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for name in names:
        bare = _CAST.sub("", name)
        number = _NUMBER.search(bare)
        found[_NUMBER.sub("", bare)][int(number[1]) if number else -1] = name
    return {stem: [by[number] for number in sorted(by)] for stem, by in found.items()}
