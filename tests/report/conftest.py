"""A real browser for the report's pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pteron.report import Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_PATIENCE = 120_000
"""Milliseconds that a busy machine may take for anything; nothing waits longer than it must."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, driven by Playwright; skips where either is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("PTERON_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("no Chromium: run tests/report/install-chromium, or set PTERON_CHROMIUM")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path,
            args=["--no-sandbox", "--disable-dev-shm-usage"],
            timeout=_PATIENCE,
        )
        yield started
        started.close()


Show = Callable[..., "Page"]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """``show(report, **context options)``: its page, opened from disk.

    After the test, nothing may have been said on the console, and nothing asked of the network.
    """
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def open_page(report: Report, **options: object) -> Page:
        path = tmp_path / f"report-{len(contexts)}.html"
        report.save(path)
        context = browser.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.get_by_role("tab").first.wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []
    assert len(asked) == len(contexts)
