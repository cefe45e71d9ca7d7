"""Silero VAD, one thread: pteron beside onnxruntime on the model's own ONNX file.

    python -m benchmarks.silero_vad [--chunks 200] [--rounds 25]

Chunks of 32 ms of a recording, state kept from call to call. Reported are microseconds per chunk
and the real-time factor, seconds of computing per second of sound; both from the best of some
rounds taken in turn. "openvino" is the graph that pteron runs (``model``), called through
OpenVINO's own Python API: it cannot read the ONNX file. Needs onnxruntime.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pteron
from examples.silero_vad import data, recording
from examples.silero_vad.model import CONTEXT, build
from pteron.engines.base import EngineOptions
from pteron.engines.description import function_names
from pteron.engines.openvino.build import build as translate
from pteron.engines.openvino.passes import Target, rewrite
from pteron.engines.openvino.precision import compile_properties
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import CoreMLPackage

Chunk = NDArray[np.float32]
Stream = Callable[[Chunk], float]
"""Takes the next chunk ``[1, 512]``, gives the probability of speech."""


def with_pteron(precision: str) -> Stream:
    model, inputs = build()
    module = pteron.load(pteron.lower(model, inputs), precision=precision, threads=1)
    return lambda chunk: float(module.forward(chunk)[0].item())


def with_openvino() -> Stream:
    from pteron.engines.openvino._import import ov

    model, inputs = build()
    pte = pteron.lower(model, inputs)
    (delegate,) = pte.delegates
    package = CoreMLPackage(open_payload(delegate.backend_id, delegate.payload))
    (name,) = function_names(package)
    graph = translate(package, name).model
    functions = [stage.program.functions[name] for stage in package.stages]
    properties = compile_properties(EngineOptions(threads=1), functions, len(delegate.payload))
    rewrite(graph, Target(properties["INFERENCE_PRECISION_HINT"], exact=False))
    request = ov.Core().compile_model(graph, "CPU", properties).create_infer_request()
    return lambda chunk: float(request.infer([chunk], share_inputs=True)[0].item())


def with_onnxruntime() -> Stream:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    path = dataclasses.replace(data.SILERO_JIT, member="silero_vad/data/silero_vad.onnx").path()
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    kept: dict[str, Any] = {
        "context": np.zeros((1, CONTEXT), np.float32),
        "state": np.zeros((2, 1, 128), np.float32),
    }
    rate = np.array(recording.RATE, np.int64)

    def step(chunk: Chunk) -> float:
        samples = np.concatenate([kept["context"], chunk], axis=1)
        given = {"input": samples, "state": kept["state"], "sr": rate}
        probability, kept["state"] = session.run(None, given)
        kept["context"] = samples[:, -CONTEXT:]
        return float(probability.item())

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    found = recording.chunks(recording.read(data.speech_wav()))
    chunks = [np.asarray(found[at % len(found)]).reshape(1, -1) for at in range(options.chunks)]
    streams = {
        "pteron model": with_pteron("model"),
        "pteron fast": with_pteron("fast"),
        "openvino": with_openvino(),
        "onnxruntime": with_onnxruntime(),
    }
    best = dict.fromkeys(streams, float("inf"))
    for _ in range(options.rounds):
        for name, step in streams.items():
            start = perf_counter()
            for chunk in chunks:
                step(chunk)
            best[name] = min(best[name], perf_counter() - start)
    sound = len(chunks) * recording.CHUNK / recording.RATE
    for name, seconds in best.items():
        each = seconds / len(chunks) * 1e6
        against = seconds / best["onnxruntime"]
        print(
            f"{name:14} {each:6.1f} us, real-time factor {seconds / sound:.5f}, "
            f"{against:.2f} of onnxruntime"
        )


if __name__ == "__main__":
    main()
