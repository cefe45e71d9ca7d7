"""pteron opens, edits, lowers, caches and runs ExecuTorch programs on any machine.

Names are imported from their rooms when first used, so that ``import pteron`` stays light: it
loads neither NumPy, torch, coremltools nor openvino.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pteron.errors import PteronError

if TYPE_CHECKING:
    from pteron import bench as bench
    from pteron import cache as cache
    from pteron import coreml as coreml
    from pteron import edit as edit
    from pteron import progress as progress
    from pteron.files import BundledFile as BundledFile
    from pteron.files import PTDFile as PTDFile
    from pteron.files import PTEFile as PTEFile
    from pteron.files import open as open
    from pteron.lowering import CoreML as CoreML
    from pteron.lowering import lower as lower
    from pteron.runtime import Snapshot as Snapshot
    from pteron.runtime import load as load

__version__ = "0.1.0"

# public name -> module that defines it
_HOMES: dict[str, str] = {
    "BundledFile": "pteron.files",
    "CoreML": "pteron.lowering",
    "PTDFile": "pteron.files",
    "PTEFile": "pteron.files",
    "Snapshot": "pteron.runtime",
    "load": "pteron.runtime",
    "lower": "pteron.lowering",
    "open": "pteron.files",
}
_ROOMS = ("bench", "cache", "coreml", "edit", "progress")

__all__ = ["PteronError", "__version__", *_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"pteron.{name}")
    else:
        raise AttributeError(f"module 'pteron' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
