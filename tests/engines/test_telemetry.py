"""OpenVINO must not talk to anybody, nor write anything at home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.engines.converted import convert
from tests.engines.test_states import SpeechCell, speech_steps

_PROGRAM = """
import socket, sys

def forbidden(*args, **kwargs):
    raise SystemExit(f"network access: {args}")

socket.socket = socket.create_connection = socket.getaddrinfo = forbidden
from pteron.engines import select
from pteron.engines.base import EngineOptions
from pteron.payloads.coreml.package import directory_source
import numpy as np

compiled = select("CoreMLBackend").compile_in_memory(directory_source(sys.argv[1]), EngineOptions())
print(compiled.new_session().run("main", [np.zeros((1, 32), np.float32)])[0].shape)
assert not any(name.startswith("openvino_telemetry") for name in sys.modules)
"""


def test_no_socket_is_opened_and_home_stays_empty(tmp_path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    source = convert(SpeechCell().eval(), speech_steps()[0])
    for path in source.paths():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read(path))
    environment = {**os.environ, "HOME": str(home), "USERPROFILE": str(home)}
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path / "model.mlpackage")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "(1, 1)" in done.stdout
    assert list(Path(home).iterdir()) == []
