"""Choosing an engine, and Core ML's own up to the border of macOS."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pteron.engines import select
from pteron.engines.base import EngineOptions
from pteron.errors import EngineError, StateError, UnsupportedError, UsageError
from tests.engines.converted import convert
from tests.engines.test_states import SpeechCell, speech_steps

linux = pytest.mark.skipif(platform.system() == "Darwin", reason="Core ML exists there")


def test_the_default_engine_takes_core_ml_payloads() -> None:
    assert "CoreMLBackend" in select("CoreMLBackend").backends
    assert select("CoreMLBackend", "openvino").name == "openvino"


def test_an_unknown_engine_and_an_unknown_backend_are_named() -> None:
    with pytest.raises(UsageError, match="'tensorrt'"):
        select("CoreMLBackend", "tensorrt")
    with pytest.raises(UnsupportedError, match="'QnnBackend'"):
        select("QnnBackend")
    with pytest.raises(UnsupportedError, match="'QnnBackend'"):
        select("QnnBackend", "openvino")


@linux
def test_core_ml_says_that_it_needs_macos() -> None:
    with pytest.raises(UnsupportedError, match="macOS"):
        select("CoreMLBackend", "coreml")


def test_choosing_is_cheap_until_an_engine_is_chosen() -> None:
    code = (
        "import pteron.engines, sys; print({'numpy', 'openvino', 'coremltools'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


class FakeCoreML:
    """Records what Core ML would be asked, and answers with zeros."""

    def __init__(self, outputs: dict[str, np.ndarray]) -> None:
        self.calls: list[tuple] = []
        self.outputs = outputs
        self.states: dict[str, np.ndarray] = {}
        self.models = SimpleNamespace(
            utils=SimpleNamespace(compile_model=self.compile_model), CompiledMLModel=self.model
        )

    def compile_model(self, package: str, target: str) -> None:
        assert Path(package).is_dir()
        self.calls.append(("compile", Path(package).name, target))

    def model(self, path: str, function_name: str | None = None) -> FakeCoreML:
        self.calls.append(("model", path, function_name))
        return self

    def make_state(self) -> FakeCoreML:
        self.calls.append(("make_state",))
        return self

    def predict(self, data: dict[str, np.ndarray], state: FakeCoreML | None) -> dict:
        if "boom" in self.states:
            raise RuntimeError("boom")
        self.calls.append(("predict", list(data), state is self))
        return self.outputs

    def read_state(self, name: str) -> np.ndarray:
        return self.states[name]

    def write_state(self, name: str, value: np.ndarray) -> None:
        self.states[name] = value


def test_core_ml_is_asked_to_compile_load_and_predict(monkeypatch, tmp_path) -> None:
    module, steps = SpeechCell().eval(), speech_steps()
    source = convert(module, steps[0])
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    fake = FakeCoreML({})
    monkeypatch.setitem(sys.modules, "coremltools", fake)
    engine = select("CoreMLBackend")
    assert engine.name == "coreml"
    engine.compile(source, EngineOptions(), tmp_path)
    compiled = engine.load(source, EngineOptions(), tmp_path)
    (info,) = compiled.functions.values()
    fake.outputs = {info.outputs[0].name: np.zeros((1, 1), np.float16)}
    session = compiled.new_session()
    (output,) = session.run("main", [steps[0][0].numpy()])
    target = str(tmp_path / "model.mlmodelc")
    assert fake.calls == [
        ("compile", "model.mlpackage", target),
        ("model", target, None),
        ("make_state",),
        ("predict", ["chunk"], True),
    ]
    assert output.dtype == np.float16
    assert [s.name for s in info.states] == ["h", "c", "context"]

    session.write_state("h", np.ones((1, 8), np.float16))
    assert session.read_state("h").all()
    session.reset_state("h")
    assert not session.read_state("h").any()
    with pytest.raises(StateError):
        session.write_state("h", np.ones((1, 8), np.float32))
    with pytest.raises(StateError):
        session.read_state("x")
    with pytest.raises(UsageError):
        session.run("main", [])
    fake.states["boom"] = output
    with pytest.raises(EngineError, match="boom"):
        session.run("main", [steps[0][0].numpy()])
