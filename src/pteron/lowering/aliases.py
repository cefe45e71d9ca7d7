"""Buffers that share memory: one is kept, the others become views of it while a model is traced.

torch.export takes every registered tensor for memory of its own. A tied buffer, or one that is a
view of another, would be written in one place and read, stale, in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


@contextmanager
def unified(model: Module) -> Iterator[dict[str, list[str]]]:
    """While open, every set of buffers that share memory is one buffer of the model.

    Yields the kept buffer's name -> the names that became views of it. The model is as before
    afterwards. Raises :class:`LoweringError` where no buffer of a set covers the others.
    """
    kept: dict[str, list[str]] = {}
    with ExitStack() as stack:
        for names in _sharing(model):
            root = _covering(model, names)
            kept[root] = [name for name in names if name != root]
            for name in kept[root]:
                stack.enter_context(_as_view(model, name, root))
        yield kept


def _sharing(model: Module) -> list[list[str]]:
    """Groups of buffer names whose memory is one storage."""
    groups: dict[int, list[str]] = {}
    for name, tensor in model.named_buffers(remove_duplicate=False):
        if tensor.numel():
            groups.setdefault(tensor.untyped_storage().data_ptr(), []).append(name)
    shared = [names for names in groups.values() if len(names) > 1]
    # One tensor under several paths of one shared module is already one to torch.export.
    return [names for names in shared if len({_home(model, n) for n in names}) > 1]


def _home(model: Module, name: str) -> tuple[int, str]:
    path, _, attribute = name.rpartition(".")
    return id(model.get_submodule(path)), attribute


def _covering(model: Module, names: list[str]) -> str:
    tensors = {name: model.get_buffer(name) for name in names}
    root = max(names, key=lambda name: tensors[name].numel())
    whole = tensors[root]
    first = whole.storage_offset()
    for name, tensor in tensors.items():
        start = tensor.storage_offset() - first
        if (
            not whole.is_contiguous()
            or tensor.dtype != whole.dtype
            or start < 0
            or start + _extent(tensor) > whole.numel()
        ):
            raise LoweringError(
                f"buffers {root} and {name} share memory, and neither covers the other: register "
                "the whole tensor as one buffer and take views of it in forward"
            )
    return root


def _extent(tensor: Tensor) -> int:
    """Elements from the first to the last that a strided tensor reaches."""
    reach = zip(tensor.shape, tensor.stride(), strict=True)
    return 1 + int(sum((size - 1) * stride for size, stride in reach))


@contextmanager
def _as_view(model: Module, name: str, root: str) -> Iterator[None]:
    """Make attribute ``name`` a view, computed on every access, of buffer ``root``."""
    path, _, attribute = name.rpartition(".")
    owner = model.get_submodule(path)
    if attribute not in owner._buffers:  # another path to a module that was seen before
        yield
        return
    tensor, original = owner._buffers.pop(attribute), type(owner)
    assert tensor is not None
    view = _viewer(model, tensor, root)

    def refuse(_: Any, __: Any) -> None:
        raise LoweringError(
            f"buffer {name} shares memory with {root} and is assigned anew in forward, which "
            "would part them: write into it with copy_ instead"
        )

    owner.__class__ = type(
        original.__name__, (original,), {attribute: property(lambda _: view(), refuse)}
    )
    try:
        yield
    finally:
        owner.__class__ = original
        owner._buffers[attribute] = tensor


def _viewer(model: Module, tensor: Tensor, root: str) -> Callable[[], Tensor]:
    whole = model.get_buffer(root)
    start = tensor.storage_offset() - whole.storage_offset()
    size, stride = tuple(tensor.shape), tensor.stride()

    def view() -> Tensor:
        current = model.get_buffer(root)
        if tensor.is_contiguous():
            if size == tuple(current.shape):
                return current
            return current.view(-1)[start : start + tensor.numel()].view(size)
        return current.as_strided(size, stride, start)

    return view
