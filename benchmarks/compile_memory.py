"""Memory that loading a decoder takes, from nothing and from the cache, beside OpenVINO's own.

    python -m benchmarks.compile_memory [--cache 1024] [--rows fast-cold fast-hit ...]

A SmolLM2-135M's shape in fp16 (the program of ``benchmarks.decode``). Every row is a process of its
own; what it grew by at its peak is over what it had resident when everything was imported, mapped
files included. ``openvino-*`` is the least that OpenVINO itself takes: as many bytes of fp16
weights, mapped from a file, each a constant of a matrix product, compiled and called once. Rows
named ``hit`` need those named ``cold`` before them.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.decode import core_ml_program
from benchmarks.rows import add_row_options, measured_alone
from pteron.bench.memory import peak_growth
from pteron.cache import DirectoryCache

WIDTH = 2048
MB = 1e6
PRECISIONS = {"fast": "bf16", "model": "f16", "f32": "f32"}
ROWS = [
    *(f"{precision}-{kind}" for precision in PRECISIONS for kind in ("cold", "hit")),
    *(f"openvino-{hint}" for hint in PRECISIONS.values()),
]


def measure(row: str, program: Path, directory: Path) -> float:
    """Bytes by which this process grows at its peak."""
    import openvino

    openvino.Core().get_property("CPU", "FULL_DEVICE_NAME")  # loads what all rows need
    subject, kind = row.split("-")
    if subject == "openvino":
        load = partial(compile_products, kind, directory / "weights")
    else:
        load = partial(load_program, subject, program, directory / subject)
    with peak_growth() as growth:
        kept = load()
    del kept
    if growth.bytes is None:
        raise SystemExit("this system does not tell a process's peak memory")
    return growth.bytes


def load_program(precision: str, program: Path, cache: Path) -> Any:
    import pteron

    return pteron.load(program, cache=DirectoryCache(cache), precision=precision, threads=2)


def compile_products(hint: str, path: Path) -> Any:
    import openvino as ov
    from openvino import opset13 as op

    weights = np.memmap(path, np.float16, "c").reshape(-1, WIDTH, WIDTH)
    value = given = op.parameter([1, 1, WIDTH], ov.Type.f16 if hint == "f16" else ov.Type.f32)
    for matrix in weights:
        weight = ov.op.Constant(np.asarray(matrix), shared_memory=True)
        if hint != "f16":
            weight = op.convert(weight, "f32")
            weight.get_rt_info()["decompression_0"] = True
        value = op.relu(op.matmul(value, weight, False, True))
    model = ov.Model([op.result(value)], [given], "products")
    options = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": 2, "NUM_STREAMS": 1}
    compiled = ov.Core().compile_model(model, "CPU", options)
    request = compiled.create_infer_request()
    request.infer([np.zeros((1, 1, WIDTH), np.float16 if hint == "f16" else np.float32)])
    return request


def make_weights(size: int, path: Path) -> None:
    """About as many bytes of fp16 weights."""
    shape = (round(size / 2 / WIDTH**2), WIDTH, WIDTH)
    np.random.default_rng(0).standard_normal(shape, np.float32).astype(np.float16).tofile(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=int, default=1024)
    add_row_options(parser, ROWS)
    parser.add_argument("--directory", type=Path, help="of compiled models and weights")
    options = parser.parse_args()
    program = core_ml_program(options.cache)
    if options.row:
        print(json.dumps(measure(options.row, program, options.directory)))
        return
    size = program.stat().st_size
    print(f"program {size / MB:.0f} MB")
    with TemporaryDirectory(prefix="pteron-memory-") as directory:
        make_weights(size, Path(directory) / "weights")
        for row in options.rows:
            sizes = [f"--directory={directory}", f"--cache={options.cache}"]
            grown = measured_alone("benchmarks.compile_memory", row, sizes)
            print(f"{row:14} {grown / MB:7.0f} MB   {grown / size:5.2f} x program", flush=True)


if __name__ == "__main__":
    main()
