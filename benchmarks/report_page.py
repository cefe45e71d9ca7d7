"""The page of a large program in a browser: how big it is, and how long each view takes.

    python -m benchmarks.report_page [--steps 2400] [--values 8000] [FILE.pte]

By default the program is made here: a chain of kernel calls with call stacks. Reported are the time
to describe it, the size of the page, the time until its first view stands, and for every view the
time from the click until it is drawn. Needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from playwright.sync_api import sync_playwright

import pteron
from pteron.report import report
from tests.report.made import long_program

DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def program(path: Path | None, steps: int, values: int) -> Path | bytes:
    extra = values - 2 - 2 * steps
    return path or long_program(steps, extra_values=extra, layers=24).to_bytes()


def browse(page_file: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        begin = perf_counter()
        page.goto(page_file.as_uri())
        page.get_by_role("tab").first.wait_for()
        page.evaluate(DRAWN)
        print(f"{'opened':24} {perf_counter() - begin:6.2f} s")
        for tab in page.get_by_role("tab").all()[1:]:
            begin = perf_counter()
            tab.click()
            page.evaluate(DRAWN)
            print(f"{tab.inner_text():24} {perf_counter() - begin:6.2f} s")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--steps", type=int, default=2400)
    parser.add_argument("--values", type=int, default=8000)
    given = parser.parse_args()
    opened = pteron.open(program(given.file, given.steps, given.values))
    with TemporaryDirectory() as directory:
        begin = perf_counter()
        path = Path(directory, "report.html")
        report(opened).save(path)
        print(f"{'described':24} {perf_counter() - begin:6.2f} s")
        print(f"{'page':24} {path.stat().st_size / 1e6:6.2f} MB")
        browse(path)


if __name__ == "__main__":
    main()
