"""The page in a real browser: clicks, keys, and what is seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pteron
from pteron.report import report
from tests.files.programs import add_program
from tests.report.conftest import Show
from tests.report.made import HOSTILE, counter_program, hostile_program, long_program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

VIEWS = ["Overview", "Where the bytes are", "Where the memory goes", "What runs"]


def open_view(page: Page, name: str) -> Locator:
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def visit_all(page: Page) -> None:
    for tab in page.get_by_role("tab").all():
        tab.click()
        panel = page.get_by_role("tabpanel", name=tab.inner_text(), exact=True)
        panel.locator("> *").first.wait_for()


def focus_all(nodes: Locator) -> None:
    for node in nodes.all():
        node.focus()


@pytest.fixture
def counter() -> pteron.PTEFile:
    return counter_program()


# What there is to see


def test_overview(show: Show, counter):
    page = show(report(counter))
    panel = open_view(page, "Overview")
    assert panel.get_by_text("Nothing is wrong with the file.").is_visible()
    states = panel.get_by_role("table", name="Mutable buffers and who owns them")
    assert states.get_by_role("row").nth(1).inner_text().split()[:2] == ["total", "delegate"]
    methods = panel.get_by_role("table", name="Methods and signatures")
    assert "float32[8, 128]" in methods.inner_text()


def test_lowering_report_of_what_was_just_lowered(show: Show, counter):
    counter.lowering_report = Lowered()
    page = show(report(counter))
    decided = page.get_by_role("table", name="What lowering decided for each buffer")
    row = decided.get_by_role("row").nth(1).inner_text()
    assert "every read and write is in delegate 0" in row and "model.py:7" in row


class Lowered:
    """A lowering report, without lowering."""

    def to_json(self) -> str:
        access = {"method": "forward", "op": "aten.add_.Tensor", "line": "model.py:7"}
        buffer = {
            "name": "total",
            "kind": "buffer",
            "dtype": "float32",
            "shape": [1, 4],
            "owner": "delegate",
            "reason": "every read and write is in delegate 0",
            "reads": [access],
            "writes": [access],
        }
        return json.dumps({"buffers": [buffer], "delegates": []})


@pytest.mark.parametrize(
    "name",
    [
        "stories260k-qnn.pte",
        "keyword-spotting-ethos-u.pte",
        "bundled-2025.bpte",
        "bundled-2023.bp",
        "multi-method.pte",
        "linear-external.ptd",
        "dynamic-shape.pte",
    ],
)
def test_files_of_others(show: Show, corpus, name):
    page = show(report(pteron.open(corpus / name)))
    visit_all(page)
    assert page.locator(".failure").count() == 0
    assert page.locator("h1").inner_text().startswith(name)


def test_a_damaged_file_says_what_is_wrong(show: Show):
    whole = add_program().to_bytes()
    page = show(report(pteron.open(whole[: len(whole) // 2])))
    visit_all(page)
    assert page.locator(".failure").first.inner_text()


# Bytes


def test_treemap_zooms(show: Show, counter):
    page = show(report(counter))
    panel = open_view(page, "Where the bytes are")
    map_, trail = panel.locator(".treemap"), panel.get_by_label("Where in the file")
    map_.get_by_role("button", name="forward: delegate 0").click(position={"x": 4, "y": 4})
    assert trail.get_by_role("button").all_inner_texts() == [
        "program",
        "forward: delegate 0 (CoreMLBackend)",
    ]
    rows = panel.get_by_role("table", name="Parts, the largest first")
    assert "metadata.json" in rows.inner_text()
    trail.get_by_role("button", name="program").click()
    assert "flatbuffer" in rows.inner_text()


def test_treemap_by_keyboard(show: Show, counter):
    page = show(report(counter))
    panel = open_view(page, "Where the bytes are")
    tiles = panel.locator(".treemap button")
    tiles.first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.title").startswith("flatbuffer")
    page.keyboard.press("Enter")
    assert panel.get_by_label("Where in the file").get_by_role("button").count() == 2


def test_parts_sort_by_size_and_name(show: Show, counter):
    page = show(report(counter))
    rows = open_view(page, "Where the bytes are").get_by_role("table")
    size = rows.get_by_role("columnheader", name="size")
    size.get_by_role("button").click()
    assert size.get_attribute("aria-sort") == "descending"
    size.get_by_role("button").click()
    assert size.get_attribute("aria-sort") == "ascending"
    smallest = rows.get_by_role("row").nth(1).inner_text()
    assert "constants" in smallest or "padding" in smallest


# Memory


def test_memory_chart(show: Show):
    page = show(report(long_program(12)))
    panel = open_view(page, "Where the memory goes")
    chart = panel.get_by_role("img")
    assert "13 tensors" in chart.get_attribute("aria-label")
    assert chart.locator(".peak-name").text_content() == "peak 8.00 KiB, instruction 0"
    chart.locator("rect.box").nth(3).hover()
    shown = page.locator(".tooltip")
    shown.wait_for()
    assert "%7" in shown.inner_text()
    assert "instructions 2 (aten::mm.out) to 3 (aten::sigmoid.out)" in shown.inner_text()
    assert panel.get_by_role("table").get_by_role("row").count() == 14


def test_memory_chart_zooms(show: Show):
    page = show(report(long_program(12)))
    panel = open_view(page, "Where the memory goes")
    boxes = panel.locator("rect.box")
    boxes.first.wait_for()
    width = boxes.nth(5).bounding_box()["width"]
    panel.get_by_role("button", name="Zoom in").click()
    assert boxes.count() < 13
    panel.get_by_role("button", name="Fit").click()
    assert boxes.count() == 13
    assert boxes.nth(5).bounding_box()["width"] == width


# What runs


def test_a_delegate_opens(show: Show, counter):
    page = show(report(counter))
    panel = open_view(page, "What runs")
    assert (
        panel.locator(".node.state").get_attribute("aria-label") == "total float16[8, 128], state"
    )
    panel.locator(".node.delegate").dblclick()
    trail = panel.get_by_label("Where in the program").get_by_role("button")
    assert trail.all_inner_texts() == ["forward", "CoreMLBackend [0] main"]
    kinds = [text.split("\n")[0] for text in panel.locator(".node .title").all_text_contents()]
    assert {"read_state", "add", "write_state", "x", "sum"} <= set(kinds)
    panel.locator(".node.op", has_text="add").click()
    details = panel.get_by_role("region", name="Details").inner_text()
    assert "x: held total float16[8, 128] from 0 read_state" in details
    assert "mode fp16" in details


def test_the_graph_by_keyboard(show: Show, counter):
    page = show(report(counter))
    panel = open_view(page, "What runs")
    panel.locator(".node.delegate").focus()
    page.keyboard.press("Enter")
    trail = panel.get_by_label("Where in the program").get_by_role("button")
    assert trail.count() == 2
    assert page.evaluate("document.activeElement.classList.contains('node')")
    first = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") != first
    page.keyboard.press("Backspace")
    assert trail.count() == 1


def test_search_goes_inside(show: Show, counter):
    page = show(report(counter))
    panel = open_view(page, "What runs")
    panel.get_by_label("Search").fill("write_state total")
    panel.locator(".results button").click()
    assert panel.locator(".node.chosen").get_attribute("aria-label").startswith("write_state")
    assert "writes state" in panel.get_by_role("region", name="Details").inner_text()


def test_groups_follow_the_source(show: Show):
    page = show(report(long_program(48, layers=4)))
    panel = open_view(page, "What runs")
    groups = panel.locator(".node.group .title").all_text_contents()
    assert groups == [f"forward (layer_{layer}.py)" for layer in range(4)]
    panel.get_by_role("button", name="aten::mm.out").nth(2).click()  # in the list below
    trail = panel.get_by_label("Where in the program").get_by_role("button").all_inner_texts()
    assert trail[:2] == ["forward", "forward (layer_0.py)"]
    assert "model.py:12" in panel.get_by_role("region", name="Details").inner_text()


@pytest.mark.slow
def test_a_large_program(show: Show):
    page = show(report(long_program(2400, extra_values=3198, layers=24)))
    visit_all(page)
    panel = open_view(page, "What runs")
    assert panel.locator(".node").count() < 60
    panel.get_by_label("Search").fill("layers.1799.weight")
    panel.locator(".results button").first.click()
    assert "1,799" in panel.get_by_role("region", name="Details").inner_text()
    boxes = open_view(page, "Where the memory goes").locator("rect.box")
    assert boxes.count() == 2401


# Two files, a run


def test_two_files(show: Show):
    page = show(report(long_program(8), long_program(9)))
    changes = page.get_by_role("table", name="pteron diff")
    assert "size" in changes.inner_text()
    assert page.get_by_role("tab").all_inner_texts() == ["Changes", *VIEWS[1:]]
    rows = open_view(page, "Where the bytes are").get_by_role("table")
    assert rows.get_by_role("columnheader").all_inner_texts()[2:] == ["before", "after", "change"]
    assert open_view(page, "Where the memory goes").get_by_role("img").count() == 2
    runs = open_view(page, "What runs")
    assert runs.locator(".node.fate-added").count() == 1
    runs.get_by_role("button", name="before:").click()
    assert runs.locator(".node.fate-added, .node.fate-removed").count() == 0


def test_a_method_without_instructions(show: Show):
    file = add_program()
    plan = file.program.execution_plan[0]
    plan.chains[0].instructions, plan.outputs = [], plan.inputs
    page = show(report(file))
    panel = open_view(page, "What runs")
    assert panel.get_by_text("There is no instruction").is_visible()
    panel.get_by_role("button", name="Fit").click()
    assert panel.get_by_role("table", name="0 instructions of forward").is_visible()


def test_no_tile_shows_half_a_size(show: Show):
    page = show(report(long_program(80)), viewport={"width": 700, "height": 800})
    sizes = open_view(page, "Where the bytes are").locator(".tile small")
    assert sizes.count() > 0
    for size in sizes.all():
        room = size.evaluate("one => one.parentElement.getBoundingClientRect().right")
        assert size.evaluate("one => one.getBoundingClientRect().width") > 0
        text = "one => { const r = document.createRange(); r.selectNodeContents(one);"
        assert size.evaluate(f"{text} return r.getBoundingClientRect().right }}") <= room


def test_a_run(show: Show, counter, tmp_path):
    where = {"method": "forward", "instruction": 0, "delegate": 0}
    events = [
        {"name": "CoreMLBackend", "cat": "delegate", "ts": 0, "dur": 250, "args": where},
        {"name": "add", "cat": "op", "dur": 30, "args": where | {"op": "sum"}},
        {"name": "read", "cat": "op", "dur": 10, "args": where | {"op": "held total"}},
        {"name": "set up", "cat": "op", "dur": 5, "args": {}},
    ]
    (tmp_path / "run.json").write_text(json.dumps({"traceEvents": events}))
    page = show(report(counter, profile=tmp_path / "run.json"))
    runs = open_view(page, "What runs")
    assert "250 µs · 100.0 %" in runs.locator(".node.delegate").text_content()
    runs.locator(".node.delegate").dblclick()
    assert "30.0 µs · 75.0 %" in runs.locator(".node.op", has_text="add").text_content()
    ranking = open_view(page, "A run")
    inside = ranking.get_by_role("table", name="Operations inside delegates")
    assert inside.get_by_role("row").nth(1).inner_text().startswith("sum")
    assert "set up" in ranking.inner_text()


# Everywhere


def test_tabs_by_keyboard(show: Show):
    page = show(report(add_program()))
    page.get_by_role("tab", name="Overview").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", selected=True).inner_text() == "Where the bytes are"
    assert page.get_by_role("tabpanel").count() == 1  # the others are hidden
    page.keyboard.press("End")
    assert page.get_by_role("tab", selected=True).inner_text() == "What runs"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=tabpanel]') !== null")


def test_dark_and_light(show: Show):
    def ground(page: Page) -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    dark = show(report(add_program()), color_scheme="dark")
    light = show(report(add_program()), color_scheme="light")
    dark_ground, light_ground = ground(dark), ground(light)
    assert dark_ground != light_ground
    dark.get_by_role("button", name="light").click()
    assert ground(dark) == light_ground
    light.get_by_role("button", name="dark").click()
    assert ground(light) == dark_ground
    light.get_by_role("button", name="system").click()
    assert ground(light) == light_ground


def test_a_narrow_window_needs_no_sideways_scrolling(show: Show, counter):
    page = show(report(counter), viewport={"width": 400, "height": 800})
    for tab in page.get_by_role("tab").all():
        tab.click()
        widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], tab.inner_text()


@pytest.mark.slow
def test_hostile_names_stay_names(show: Show, tmp_path):
    """Every view, every node, search and details, of one file, of two, and of a run."""
    where = {"method": HOSTILE, "instruction": 1, "delegate": 0, "op": f"sum {HOSTILE}"}
    events = [{"name": HOSTILE, "cat": kind, "dur": 5, "args": where} for kind in ("op", "kernel")]
    events.append({"name": HOSTILE, "cat": "op", "dur": 5})
    (tmp_path / "run.json").write_text(json.dumps(events))
    path = tmp_path / "<img src=x onerror=window.hacked=3>.pte"
    hostile_program().save(path)
    opened = pteron.open(path)
    for made in (
        report(opened),
        report(opened, long_program(3)),
        report(long_program(3), opened),
        report(opened, profile=tmp_path / "run.json"),
    ):
        page = show(made)
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        visit_all(page)
        open_view(page, "What runs")
        method = page.get_by_role("group", name="method").get_by_role("button", name=HOSTILE)
        if method.is_visible():  # there is more than one method
            method.click()
        focus_all(page.locator(".node"))
        page.locator(".node.delegate").first.dblclick()
        focus_all(page.locator(".node"))
        page.get_by_label("Search").fill("hacked")
        page.locator(".results li").first.wait_for()
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, #report script").count() == 0
        assert page.locator("script").count() == 2
        assert HOSTILE in page.locator("body").inner_text()


def test_notebook(browser: Browser, counter):
    """The frame shows the page though it may reach nothing of the notebook."""
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.set_content(f"<h1>notebook</h1>{counter._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.get_by_role("tab", name="What runs").click()
    frame.locator(".node.delegate").wait_for()
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(show: Show, counter, tmp_path, scheme):
    """axe-core, the checker behind most accessibility audits, finds nothing in any view."""
    axe = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.is_file():
        pytest.skip("axe-core is not installed (npm ci in web/)")
    place = {"method": "forward", "instruction": 0, "delegate": 0}
    run = [{"name": "CoreMLBackend", "cat": "delegate", "dur": 250, "args": place}]
    (tmp_path / "run.json").write_text(json.dumps(run))
    for made in (report(counter, profile=tmp_path / "run.json"), report(counter, long_program(9))):
        page = show(made, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
        page.evaluate(axe.read_text("utf-8"))
        for tab in page.get_by_role("tab").all():
            tab.click()
            if tab.inner_text() == "What runs":
                page.locator(".node.delegate, .node.kernel").first.click()  # details beside it
            found = page.evaluate("axe.run().then((all) => all.violations)")
            told = [(v["id"], [n["html"][:200] for n in v["nodes"][:4]]) for v in found]
            assert told == [], tab.inner_text()
