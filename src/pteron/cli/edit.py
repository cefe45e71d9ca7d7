"""``pteron edit``: the commands that make a new file out of one or more."""

from __future__ import annotations

import click

from pteron.cli.lazy_group import LazyGroup

_METHODS, _DATA, _LAYOUT = (f"pteron.cli.edit_{kind}" for kind in ("methods", "data", "layout"))


@click.group(
    cls=LazyGroup,
    homes={
        "rename": f"{_METHODS}:rename",
        "drop": f"{_METHODS}:drop",
        "merge": f"{_METHODS}:merge",
        "add-constant-method": f"{_METHODS}:add_constant_method",
        "replace-constant": f"{_DATA}:replace_constant",
        "replace-named": f"{_DATA}:replace_named",
        "replace-payload": f"{_DATA}:replace_payload",
        "externalise": f"{_DATA}:externalise",
        "inline": f"{_DATA}:inline",
        "realign": f"{_LAYOUT}:realign",
        "strip": f"{_LAYOUT}:strip",
    },
    aliases={"externalize": "externalise"},
)
def edit() -> None:
    """Make a new program out of others."""
