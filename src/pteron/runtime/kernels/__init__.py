"""Kernels for the operators that no delegate took.

``aten::copy_`` alone, the write-back of program-owned state beside a delegate, needs NumPy only;
everything else runs on ATen's own kernels, and so needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pteron.errors import MissingExtraError, UnsupportedError
from pteron.runtime.kernels.copy import COPY, copy_

Kernel = Callable[[list[Any], Sequence[int]], Any]
"""Takes a kernel call's arguments (outputs included) and the positions of those whose shape is
dynamic; returns the value, or list of values, that the call produced."""


def find_kernels(operators: Iterable[str]) -> dict[str, Kernel]:
    """A kernel per operator name (``aten::add.out``).

    Raises MissingExtraError where torch is needed and absent, and UnsupportedError that names
    every operator without a kernel.
    """
    names = list(dict.fromkeys(operators))
    if all(name == COPY for name in names):
        return dict.fromkeys(names, copy_)
    try:
        from pteron.runtime.kernels import aten
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError(f"running {_some(names)} outside of a delegate", "torch") from None
    found = {name: aten.kernel(name) for name in names}
    if missing := [name for name, kernel in found.items() if kernel is None]:
        raise UnsupportedError(f"no kernel here for {', '.join(sorted(missing))}")
    return {name: kernel for name, kernel in found.items() if kernel is not None}


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - 3} more operators" if len(names) > 3 else ""
    return ", ".join(names[:3]) + rest
