"""``pteron completion``: what makes a shell complete commands, options and files."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script for the shell's completion.

    \b
    bash, in ~/.bashrc:                   eval "$(pteron completion bash)"
    zsh, in ~/.zshrc, after compinit:     eval "$(pteron completion zsh)"
    fish, in ~/.config/fish/config.fish:  pteron completion fish | source
    """
    from click.shell_completion import get_completion_class

    from pteron.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "pteron", "_PTERON_COMPLETE").source())
