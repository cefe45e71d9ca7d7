"""The page: one HTML file that holds the data, the script and the style, and loads nothing.

Its content security policy forbids every request and every script but the one whose digest it
names, so that a name in a hostile file stays a name even if the escaping had a hole.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from math import isfinite
from typing import Any

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def page(title: str, data: Any) -> str:
    """A whole document that shows ``data``."""
    script, style = asset("report.js"), asset("report.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(printable(title))}</title>
<style>{style}</style>
</head>
<body>
<div id="report"></div>
<noscript>This page draws what is in it with a script of its own; allow it to run.</noscript>
<script type="application/json" id="data">{embedded(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def embedded(data: Any) -> str:
    """JSON that can stand in a script element: no ``<`` ends it, no ``&`` is a reference."""
    plain = _finite(data)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return printable(text).translate(_ESCAPES)


def _finite(data: Any) -> Any:
    """``data`` with infinities and NaN, for which JSON has no numbers, as text."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return str(data) if isinstance(data, float) and not isfinite(data) else data


def printable(text: str) -> str:
    """``text`` without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def asset(name: str) -> str:
    """A file that `make web` built."""
    return files("pteron.report").joinpath("assets", name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
