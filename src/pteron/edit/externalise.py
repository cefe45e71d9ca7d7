"""Move constants out of a program into a data file (.ptd), from where it loads them by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from pteron.edit.blob_indices import drop_unused_blobs, require_blobs
from pteron.edit.find_tensors import tensor_name
from pteron.edit.named_data_uses import external_tensors
from pteron.edit.plans import is_constant_method
from pteron.errors import UsageError
from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.files.tensors import is_constant, is_external
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import (
    ExecutionPlan,
    ExtraTensorInfo,
    Program,
    Tensor,
    TensorDataLocation,
)


def externalise(
    file: PTEFile,
    *,
    names: Mapping[int, str] | None = None,
    at_least: int = 0,
    named_data: bool = False,
) -> tuple[PTEFile, PTDFile]:
    """The program without its constants, and a data file that has them by name.

    Values of constant methods (``get_max_seq_len``) stay in the program, so that they can be
    read without the data file.

    A constant without a name gets one, as data files are read by name, and keeps it when
    :func:`~pteron.edit.inline` takes the data in again: nothing in the file tells a name that was
    given here from the model's own.

    Args:
        names: index into ``file.constants`` -> name of the data. By default the tensor's own
            name, or ``constant_<index>``.
        at_least: constants of fewer bytes stay.
        named_data: move the program's named data too, such as weights that XNNPACK delegates
            look up.

    Raises UsageError where there is nothing to move, or a name is given to two different things.
    """
    parts = file.parts()
    require_blobs(parts)
    namer = _Namer(parts.program, dict(names or {}), set(parts.named_data))
    moved: dict[str, NamedBlob] = dict(parts.named_data) if named_data else {}
    places: dict[int, int] = {}
    for tensor in _movable(parts.program):
        index = tensor.data_buffer_idx
        blob = parts.constants[index]
        if len(blob) < max(at_least, 1):
            continue
        layout = TensorLayout(tensor.scalar_type, list(tensor.sizes), list(tensor.dim_order))
        name = namer.name(tensor, layout)
        moved[name] = NamedBlob(blob, parts.constant_alignment, layout)
        _look_up(tensor, name, places.setdefault(index, len(places)))
    if not moved:
        raise UsageError("the program has no data to move out")
    if named_data:
        parts.named_data = {}
    drop_unused_blobs(parts)
    return PTEFile(**vars(parts)), PTDFile(moved)


def _movable(program: Program) -> Iterator[Tensor]:
    for plan in program.execution_plan:
        if not is_constant_method(plan):
            yield from _constants_of(plan)


def _constants_of(plan: ExecutionPlan) -> Iterator[Tensor]:
    for value in plan.values:
        tensor = value.val
        if (
            isinstance(tensor, Tensor)
            and tensor.data_buffer_idx
            and is_constant(tensor)
            and not is_external(tensor)
        ):
            yield tensor


def _look_up(tensor: Tensor, name: str, place: int) -> None:
    """Make a constant one that is looked up by ``name``.

    ExecuTorch's emitter then counts the data outside of the program in ``data_buffer_idx``; no
    runtime reads it (``exir/emit/_emitter.py``, ``_save_new_const_tensor``).
    """
    info = tensor.extra_tensor_info = tensor.extra_tensor_info or ExtraTensorInfo()
    info.fully_qualified_name, info.location = name, TensorDataLocation.EXTERNAL
    tensor.data_buffer_idx = place


class _Namer:
    """A name for each constant and layout, and none for two."""

    def __init__(self, program: Program, given: dict[int, str], taken: set[str]) -> None:
        self._given = given
        self._taken = taken | {name for name, _ in external_tensors(program.execution_plan)}
        self._names: dict[tuple[object, ...], str] = {}
        self._number: Counter[str] = Counter()

    def name(self, tensor: Tensor, layout: TensorLayout) -> str:
        index = tensor.data_buffer_idx
        wanted = self._given.get(index) or tensor_name(tensor) or f"constant_{index}"
        key = (index, wanted, layout.scalar_type, *layout.sizes, "order", *layout.dim_order)
        if key not in self._names:
            self._names[key] = self._fresh(wanted, given=index in self._given)
        return self._names[key]

    def _fresh(self, wanted: str, *, given: bool) -> str:
        """``wanted``, or with a number behind where that is another constant's or layout's."""
        if given and wanted in self._taken:
            raise UsageError(f"the name {wanted!r} is in use already")
        name = wanted
        while name in self._taken:
            self._number[wanted] += 1
            name = f"{wanted}_{self._number[wanted]}"
        self._taken.add(name)
        return name
