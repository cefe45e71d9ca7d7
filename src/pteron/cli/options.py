"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class _Path(click.Path):
    """A path, and not the empty text that an unset shell variable leaves: that is no ``.``."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


PATH = _Path(path_type=Path)

any_file = click.argument("file", type=PATH)
json_option = click.option("--json", is_flag=True, help="Print the answer as JSON.")
all_option = click.option("--all", "everything", is_flag=True, help="Do not fold long lists.")
data_option = click.option(
    "--data",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="A .ptd file the program needs; repeatable.",
)
engine_option = click.option(
    "--engine",
    type=click.Choice(["openvino", "coreml", "executorch"]),
    help="What runs it; by default what fits this machine.",
)
precision_option = click.option(
    "--precision",
    type=click.Choice(["model", "f32", "fast"]),
    default="model",
    show_default=True,
    help="Never below a value's own dtype, all in fp32, or bf16 where it pays.",
)
method_option = click.option("--method", help="Method to call; 'forward' or the default one.")
threads_option = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads an execution may use."
)
streams_option = click.option(
    "--streams",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Calls at a time, each from a thread of its own.",
)
output_option = click.option(
    "-o",
    "--output",
    type=PATH,
    required=True,
    metavar="FILE",
    help="The file to write; may be the input.",
)
drop_unknown_option = click.option(
    "--drop-unknown", is_flag=True, help="Lose fields of a newer schema, and say which."
)
