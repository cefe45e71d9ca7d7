"""A group of commands, each imported only when it is used, so that the command starts at once."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from pteron.cli.group import Group


class LazyGroup(Group):
    """A group that knows where its commands live.

    Args:
        homes: command name -> ``module:attribute``.
        aliases: other name that is understood, but not listed -> command name.
    """

    def __init__(
        self,
        *args: Any,
        homes: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._homes = homes
        self._aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._homes)

    def find(self, name: str) -> click.Command | None:
        home = self._homes.get(self._aliases.get(name, name))
        if home is None:
            return None
        module, _, attribute = home.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command
