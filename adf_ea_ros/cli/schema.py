"""``adf-ea schema``: the JSON Schema of contract files, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from adf_ea_ros.cli.common import fail
from adf_ea_ros.contracts.schema import FILE_NAME, header_line, json_schema


def schema(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help=f"Write to this file (in a folder: as {FILE_NAME}).")
    ] = None,
) -> None:
    """Print the JSON Schema of contract files, or write it and print the line that turns completion on.

    Put that line at the top of a contract file: VS Code (with the YAML extension) and other editors with the
    YAML language server then complete fields and values and mark what cannot be right.
    """
    text = json.dumps(json_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    target = output / FILE_NAME if output.is_dir() else output
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise fail(f"{target}: {error.strerror}") from error
    typer.echo(header_line(str(target)))
