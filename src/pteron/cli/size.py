"""``pteron size``: what makes a file big."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pteron.cli.options import any_file, json_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from pteron.payloads import Part


@click.command()
@any_file
@click.option("--depth", type=click.IntRange(min=0), help="Levels to show below the file.")
@click.option("--all", "everything", is_flag=True, help="Every part, not the largest of each.")
@json_option
def size(file: Path, depth: int | None, everything: bool, json: bool) -> None:
    """Show what makes a file big, or a Core ML package.

    It goes down to single weights inside payloads. The sizes below a part add up to its own
    exactly; padding and headers are parts, too.
    """
    tree = _tree(file)
    if json:
        print_json(_plain(tree, depth))
    else:
        _print(file, tree, depth, everything)


def _tree(file: Path) -> Part:
    import pteron
    from pteron.files.size import size_tree
    from pteron.payloads.coreml.directories import is_package

    if is_package(file):
        from pteron.files.packages import package_size_tree

        return package_size_tree(file)
    with pteron.open(file) as opened:
        return size_tree(opened)


def _plain(part: Part, depth: int | None) -> dict[str, Any]:
    below = None if depth is None else depth - 1
    children = [_plain(child, below) for child in part.children] if depth != 0 else []
    return {
        "name": part.name,
        "kind": part.kind,
        "offset": part.offset,
        "bytes": part.size,
        "dtype": part.dtype or None,
        "shape": None if part.shape is None else list(part.shape),
        "note": part.note or None,
        "children": children,
    }


def _print(file: Path, tree: Part, depth: int | None, everything: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from pteron.cli.text import one_line
    from pteron.files.size.rows import FOLD, rows

    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("right", "right", "left", "left", "left"):
        table.add_column(justify=justify, overflow="fold")
    for row in rows(tree, depth, None if everything else FOLD):
        share = f"{row.size / tree.size:.1%}"
        name = "  " * row.level + one_line(row.name if row.level else str(file))
        cells = (f"{row.size:,}", share, name, row.type, one_line(row.note))
        table.add_row(*map(Text, cells), style="bold" if row.level < 1 else None)
    Console(highlight=False).print(table)
