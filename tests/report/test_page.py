"""The document around the data: nothing from outside, nothing that escapes."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re

import pytest

import pteron
from pteron.report import Report, report
from pteron.report.page import embedded
from tests.files.programs import add_program
from tests.report.made import HOSTILE, hostile_program, long_program

_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def data_of(page: str) -> dict:
    (text,) = _DATA.findall(page)
    return json.loads(text)


def test_data_comes_back():
    made = report(add_program())
    assert data_of(made.html) == json.loads(json.dumps(made.data))


@pytest.mark.parametrize("text", [HOSTILE, "<!--", "]]>", "&lt;", "\u2028", "\ud800", "\0"])
def test_no_text_ends_its_element(text):
    held = embedded({text: [text]})
    assert not set("<>&\u2028\u2029") & set(held)
    replaced = text.encode("utf-8", "replace").decode()
    assert json.loads(held) == {replaced: [replaced]}


def test_numbers_that_json_has_none_for():
    assert json.loads(embedded([float("inf"), float("nan"), 1.5])) == ["inf", "nan", 1.5]


def test_policy_names_the_script_and_the_style_and_nothing_else():
    page = report(add_program()).html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)[1]
    digests = [
        base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in (script, style)
    ]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{digests[0]}'",
        f"style-src 'sha256-{digests[1]}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_every_hostile_name_is_in_the_data_only():
    page = report(hostile_program()).html
    assert HOSTILE not in page
    assert HOSTILE in json.dumps(data_of(page), ensure_ascii=False)


def test_title_is_escaped(tmp_path):
    path = tmp_path / "<b>&.pte"
    add_program().save(path)
    assert "<title>&lt;b&gt;&amp;.pte</title>" in report(pteron.open(path)).html


def test_the_place_of_the_file_is_nobodys_business(tmp_path):
    path = tmp_path / "a.pte"
    add_program().save(path)
    assert str(tmp_path) not in report(pteron.open(path)).html


def test_notebook_gets_a_frame_of_its_own():
    shown = add_program()._repr_html_()
    frame = re.fullmatch(
        r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^<>]*></iframe>', shown
    )
    assert html.unescape(frame[1]) == add_program().report().html


def test_licences_come_along():
    licences = report(add_program()).data["licences"]
    for name in ("@dagrejs/dagre", "d3-hierarchy", "d3-zoom"):
        assert name in licences
    assert "Permission is hereby granted" in licences


def test_the_page_of_a_large_program_is_small():
    big = long_program(2400, extra_values=3198, layers=24)
    assert len(big.program.execution_plan[0].values) == 8000
    assert len(report(big).html.encode()) < 5_000_000


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    whole = add_program().to_bytes()
    opened = pteron.open(whole[: len(whole) // 2])
    (file,) = opened.report().data["files"]
    assert "error" in file["summary"]
    assert isinstance(opened._repr_html_(), str)


def test_save_replaces_nothing_where_it_cannot_write(tmp_path):
    with pytest.raises(pteron.PteronError):
        Report({"files": [], "licences": ""}).save(tmp_path / "missing" / "report.html")
