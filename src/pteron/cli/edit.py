"""``pteron edit``: the commands that make a new file out of one or more."""

from __future__ import annotations

import typer

from pteron.cli import edit_data, edit_layout, edit_methods

edit = typer.Typer(no_args_is_help=True, help="Edit programs: methods, constants, layout.")

edit.command()(edit_methods.rename)
edit.command()(edit_methods.drop)
edit.command()(edit_methods.merge)
edit.command()(edit_methods.add_constant_method)
edit.command()(edit_data.replace_constant)
edit.command()(edit_data.replace_named)
edit.command()(edit_data.replace_payload)
edit.command()(edit_data.externalise)
edit.command("externalize", hidden=True)(edit_data.externalise)
edit.command()(edit_data.inline)
edit.command()(edit_layout.realign)
edit.command()(edit_layout.strip)
