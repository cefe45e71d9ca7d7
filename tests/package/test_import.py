"""``import pteron`` stays light: what must not be loaded by it, and by opening a file."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("torch", "coremltools", "openvino", "numpy", "executorch")


def loaded_after(code: str) -> set[str]:
    """Heavy modules in ``sys.modules`` after running ``code`` in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import pteron") == set()


def test_command_line_loads_nothing_heavy() -> None:
    assert loaded_after("import pteron.cli") == set()


def test_public_names_resolve() -> None:
    script = "import pteron\nfor name in pteron.__all__: getattr(pteron, name)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_unknown_name_is_an_attribute_error() -> None:
    script = "import pteron\ntry: pteron.nothing\nexcept AttributeError as e: print(e)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout.strip() == "module 'pteron' has no attribute 'nothing'"
