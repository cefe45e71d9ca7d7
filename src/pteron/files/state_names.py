"""Names of the states that a delegate owns, as lowering writes them into the program.

They are in the delegate's compile spec ``pteron.states``, a UTF-8 JSON list of objects with
``name`` (the model's ``named_buffers()`` name) and ``payload_name`` (the payload's own), beside
what else is worth keeping. ExecuTorch's runtimes ignore compile specs they do not know.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pteron.errors import FormatError

if TYPE_CHECKING:
    from pteron.files.methods import Delegate

STATES_KEY = "pteron.states"


def declared_state_names(delegate: Delegate) -> dict[str, str]:
    """Payload's name -> model's name of each state; empty where the file does not say.

    Raises FormatError for a compile spec that is not what it should be.
    """
    return {payload_name: name for payload_name, (name, _) in _declared(delegate).items()}


def shares_state(delegate: Delegate) -> bool:
    """Whether any of its states is one value for all delegates of the same package.

    ``shared`` says so; only pteron's runtime does it. Raises FormatError as above.
    """
    return any(shared for _, shared in _declared(delegate).values())


def _declared(delegate: Delegate) -> dict[str, tuple[str, bool]]:
    spec = delegate.compile_specs.get(STATES_KEY)
    if spec is None:
        return {}
    try:
        records = json.loads(bytes(spec).decode("utf-8"))
        return {
            str(record["payload_name"]): (str(record["name"]), record.get("shared") is True)
            for record in records
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        where = f"method '{delegate.method}', delegate {delegate.index}: compile spec {STATES_KEY}"
        raise FormatError(f"is not the list of states it should be: {error}", where=where) from None
