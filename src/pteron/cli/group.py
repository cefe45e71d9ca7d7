"""What every group of commands has: ``-q``, ``-v``, whole one-liners, suggestions."""

from __future__ import annotations

import sys
from typing import Any

import click

from pteron.cli import verbosity
from pteron.suggestions import meant


class Group(click.Group):
    """A group whose commands, and groups in it, all take ``-q`` and ``-v``."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self.find(cmd_name)
        if command is not None:
            known = {param.name for param in command.params}
            command.params += [one for one in verbosity.options() if one.name not in known]
        return command

    def find(self, name: str) -> click.Command | None:
        """The command of that name."""
        return self.commands.get(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their first sentences, wrapped where click would cut them."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(sys.maxsize)) for name, one in found if one]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[Any]]:
        name = args[0]
        if not (ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name)):
            hint = meant(name, self.list_commands(ctx))
            ctx.fail(f"No such command '{name}'{hint}.")
        return super().resolve_command(ctx, args)
