"""Files that ExecuTorch makes, and the command line: shared with other rooms' tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pteron.files import PTEFile
from tests.cli.conftest import pteron as pteron
from tests.edit.proof import program
from tests.files.conftest import made as made
from tests.files.conftest import session_directory as session_directory
from tests.files.made import Made


@pytest.fixture
def opened(made: Callable[[str], Made]) -> Callable[[str], PTEFile]:
    """``opened("xnnpack")``: a program that ExecuTorch made, opened."""
    return lambda name: program(made(name).pte)
