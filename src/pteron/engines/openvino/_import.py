"""The one place that imports OpenVINO, without its telemetry.

``import openvino`` reports the import to a server and leaves files in the user's home directory
whenever the package ``openvino_telemetry`` can be imported. Here it cannot be: OpenVINO then falls
back to a stub that does nothing. Every module of this engine takes ``ov``, ``opset`` and
``NodeFactory`` from here.
"""

from __future__ import annotations

import sys
from typing import Any

from pteron.errors import UnsupportedError

_TELEMETRY = "openvino_telemetry"


def _import_quietly() -> tuple[Any, Any, Any]:
    before = sys.modules.get(_TELEMETRY)
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment]  # makes its import fail
    try:
        import openvino
        from openvino import opset15
        from openvino.utils.node_factory import NodeFactory
    except ImportError as error:
        raise UnsupportedError(
            f"the OpenVINO engine needs the package 'openvino', which cannot be imported: {error}"
        ) from error
    finally:
        if before is None:
            del sys.modules[_TELEMETRY]
        else:
            sys.modules[_TELEMETRY] = before
    return openvino, opset15, NodeFactory


ov, opset, NodeFactory = _import_quietly()
