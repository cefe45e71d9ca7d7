"""How the site is built: Sphinx, MyST pages and notebooks, furo; nothing is fetched."""

from __future__ import annotations

import logging
import os
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

# Notebooks compile payloads; what they leave belongs to the build.
os.environ.setdefault("PTERON_CACHE_DIR", str(HERE.parent / "build" / "docs" / "cache"))

# Sphinx opens the root logger; lowering the sample files should stay as quiet as elsewhere.
logging.getLogger("pteron").setLevel(logging.WARNING)

project = "pteron"
author = "The pteron authors"
copyright = "the pteron authors, Apache-2.0"
release = metadata.version("pteron")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "byte_diagram",
    "support_table",
]
exclude_patterns = ["_ext"]
root_doc = "index"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Notebooks are stored without outputs, and run by every build. A cell that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 1200  # seconds per cell; SmolLM2 takes a minute on a quiet machine
nb_ipywidgets_js = {}  # no widgets, and nothing from a CDN

# Docstrings name attributes that several classes have; those links are ambiguous, and left out.
suppress_warnings = ["ref.python"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

smartquotes = False  # options keep their two dashes

html_static_path = ["_static"]
html_theme = "furo"
html_title = "pteron"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
