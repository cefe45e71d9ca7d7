"""Give methods other names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pteron.edit.plans import require_methods
from pteron.edit.training import companions
from pteron.errors import UnsupportedError, UsageError
from pteron.files import Delegate, PTEFile
from pteron.payloads.coreml.reference import MAGIC

_LOOK_UP_BY_METHOD = {"QnnBackend"}
"""Backends whose runtime finds the payload's graph by the method's name: in ExecuTorch,
``backends/qualcomm/runtime/QnnExecuTorchBackend.cpp``, ``execute``."""


def rename(file: PTEFile, names: Mapping[str, str]) -> PTEFile:
    """The program with methods renamed, old name -> new name; names may be exchanged.

    Constant methods by which ExecuTorch's training runtime knows a method go with it.

    Raises:
        UsageError: a method does not exist, or two would have one name.
        UnsupportedError: a delegate finds its function by the method's name, which only its
            backend could change in the payload.
    """
    require_methods(file.program, names)
    for delegate in file.delegates:
        if delegate.method in names and finds_function_by_method(delegate):
            raise UnsupportedError(
                f"method {delegate.method!r} cannot be renamed: the payload of its delegate"
                f" {delegate.index} ({delegate.backend_id}) is looked up by the method's name"
            )
    parts = file.parts()
    renamed = _with_companions(file, names)
    for plan in parts.program.execution_plan:
        plan.name = renamed.get(plan.name, plan.name)
    _refuse_duplicates([plan.name for plan in parts.program.execution_plan])
    return PTEFile(**vars(parts))


def finds_function_by_method(delegate: Delegate) -> bool:
    """Whether the backend's runtime takes the method's name to find its part of the payload.

    Core ML does for a model that several methods share: ExecuTorch hands the method's name to
    it (``backends/apple/coreml/runtime/delegate/coreml_backend_delegate.mm``, ``init``).
    """
    return delegate.backend_id in _LOOK_UP_BY_METHOD or delegate.payload[: len(MAGIC)] == MAGIC


def _with_companions(file: PTEFile, names: Mapping[str, str]) -> dict[str, str]:
    renamed = dict(names)
    for old, new in names.items():
        for prefix, companion in companions(file.program, old).items():
            renamed.setdefault(companion, prefix + new)
    return renamed


def _refuse_duplicates(names: list[str]) -> None:
    for name, count in Counter(names).items():
        if not name:
            raise UsageError("a method needs a name")
        if count > 1:
            raise UsageError(f"two methods would be called {name!r}")
