"""Buffers that ``forward`` assigns anew (``self.b = value``) are written in place instead.

torch.export notes each assignment and copies the last values back one after the other, which
refuses or gets wrong what swaps two buffers. Here the assignments pass by torch.export; at the end
of ``forward`` every new value is settled first, then all are copied.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


@contextmanager
def written_back(model: Module, method: Any) -> Iterator[None]:
    """While open, ``model.forward`` is ``method`` (of the model, or the model itself for its
    forward), and ends by copying reassigned buffers into the original ones."""
    forward = model.forward if method is model else method
    own = vars(model).get("forward")
    owners = [module for module in model.modules() if module._buffers]
    classes = [type(owner) for owner in owners]
    model.forward = _settling(model, forward)
    for owner, original in zip(owners, classes, strict=True):
        owner.__class__ = _silently_assigned(original)
    try:
        yield
    finally:
        for owner, original in zip(owners, classes, strict=True):
            owner.__class__ = original
        del model.forward
        if own is not None:
            model.forward = own


def _silently_assigned(original: type[Module]) -> type[Module]:
    """The class, but assigning to a buffer calls none of torch's registration hooks."""

    def assign(self: Module, name: str, value: Any) -> None:
        if name in self.__dict__.get("_buffers", ()):  # a copy that torch makes has none at first
            self._buffers[name] = value
        else:
            super(changed, self).__setattr__(name, value)

    changed: type[Module] = type(original.__name__, (original,), {"__setattr__": assign})
    return changed


def _settling(model: Module, forward: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(forward)
    def settled(*args: Any, **kwargs: Any) -> Any:
        before = _buffers(model)
        results = forward(*args, **kwargs)
        after = _buffers(model)
        changed = {place: after[place] for place in before if after[place] is not before[place]}
        originals = {id(tensor) for tensor in before.values()}
        values = {
            place: value.clone() if value._is_view() or id(value) in originals else value
            for place, value in changed.items()
        }
        for (owner, name), value in values.items():
            owner._buffers[name] = before[owner, name]
            before[owner, name].copy_(value)
        return results

    return settled


def _buffers(model: Module) -> dict[tuple[Module, str], Tensor]:
    return {
        (owner, name): tensor
        for owner in model.modules()
        for name, tensor in owner._buffers.items()
        if tensor is not None
    }
