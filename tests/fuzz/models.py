"""Small Core ML models to begin with: a package's or a compiled model's files, by path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import torch
from coremltools.converters.mil import Builder
from coremltools.converters.mil.mil import types
from coremltools.optimize import coreml as cto
from torch import nn

from pteron.payloads.coreml.package import directory_source
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import as_compiled
from tests.fuzz.model_files import Files

_TARGET = ct.target.iOS18


def quick_models(directory: Path) -> Iterator[Files]:
    """Models that take no time to make, each as a package and as Core ML's compiler leaves it."""
    for build in (_layers, _state, _blocks, _tensors, _boxes, _recurrent):
        package = _saved(_converted(build()), directory / f"{build.__name__}.mlpackage")
        yield _files(package)
        yield _files(as_compiled(package))


def slow_models(directory: Path) -> Iterator[Files]:
    """The rest: pipelines, classifiers and compressed weights."""
    for build in (_pipeline, _classifier, _blockwise, _sparse_palette):
        yield _files(_saved(build(), directory / f"{build.__name__}.mlpackage"))


def _files(source: FilesSource) -> Files:
    return {path: bytes(data) for path, data in source.files.items()}


def _saved(model: Any, path: Path) -> FilesSource:
    model.save(str(path))
    return directory_source(path)


def _converted(program: Any, **options: Any) -> Any:
    return ct.convert(
        program,
        skip_model_load=True,
        minimum_deployment_target=_TARGET,
        compute_precision=ct.precision.FLOAT32,
        **options,
    )


def _program(*specs: Any) -> Any:
    return Builder.program(input_specs=list(specs), opset_version=_TARGET)


def _random(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def _layers() -> Any:
    @_program(Builder.TensorSpec((1, 2, 6, 6)))
    def program(x: Any) -> Any:
        y = Builder.conv(x=x, weight=_random(4, 2, 3, 3), bias=_random(4), name="conv")
        y = Builder.instance_norm(x=y, gamma=_random(4), beta=_random(4))
        y = Builder.max_pool(
            x=Builder.relu(x=y), kernel_sizes=(2, 2), strides=(2, 2), pad_type="valid"
        )
        y = Builder.reshape(x=y, shape=(1, -1))
        return Builder.softmax(
            x=Builder.linear(x=y, weight=_random(3, 16), bias=_random(3)), axis=-1
        )

    return program


def _state() -> Any:
    @_program(
        Builder.TensorSpec((1, 4), dtype=types.fp16),
        Builder.StateTensorSpec((1, 4), dtype=types.fp16),
    )
    def program(x: Any, total: Any) -> Any:
        new = Builder.add(x=Builder.read_state(input=total), y=x)
        kept = Builder.coreml_update_state(state=total, value=new)
        return Builder.mul(x=kept, y=np.float16(2))

    return program


def _blocks() -> Any:
    @_program(Builder.TensorSpec((2, 3)), Builder.TensorSpec((1,), dtype=types.int32))
    def program(x: Any, n: Any) -> Any:
        def grow(i: Any, y: Any) -> Any:
            return Builder.add(x=i, y=1), Builder.mul(x=y, y=np.float32(2))

        _, y = Builder.while_loop(
            _cond=lambda i, y: Builder.less(x=i, y=3), _body=grow, loop_vars=(np.int32(0), x)
        )
        many = Builder.greater(x=Builder.squeeze(x=n), y=1)
        parts = Builder.make_list(init_length=2, elem_shape=(2, 3), dtype="fp32")
        parts = Builder.list_write(ls=parts, index=0, value=y)
        chosen = Builder.cond(
            pred=many, _true_fn=lambda: Builder.relu(x=y), _false_fn=lambda: Builder.exp(x=y)
        )
        return chosen, Builder.list_read(ls=parts, index=0)

    return program


def _tensors() -> Any:
    @_program(Builder.TensorSpec((2, 6)))
    def program(x: Any) -> Any:
        values, places = Builder.topk(x=x, k=2, axis=1)
        ones = Builder.fill(shape=(1, 6), value=np.float32(1))
        spread = Builder.scatter(data=x, indices=np.int32([0]), updates=ones, mode="add")
        tiled = Builder.tile(x=Builder.reshape(x=spread, shape=(3, 4)), reps=(1, 2))
        cut = Builder.slice_by_index(x=tiled, begin=(0, 1), end=(2, 7), stride=(1, 2))
        many = Builder.one_hot(indices=places, one_hot_vector_size=6)
        product = Builder.matmul(x=x, y=x, transpose_y=True)
        padded = Builder.pad(x=product, pad=(1, 0, 0, 1), mode="reflect")
        even = Builder.range_1d(start=np.int32(0), end=np.int32(6), step=np.int32(2))
        taken = Builder.gather(x=Builder.transpose(x=x, perm=(1, 0)), indices=even)
        return values, cut, many, padded, Builder.concat(values=(taken, taken), axis=0)

    return program


def _boxes() -> Any:
    @_program(Builder.TensorSpec((1, 4, 6)), Builder.TensorSpec((1, 2, 6)))
    def program(boxes: Any, scores: Any) -> Any:
        image = Builder.reshape(x=boxes, shape=(1, 1, 6, 4))
        larger = Builder.upsample_bilinear(x=image, scale_factor_height=2.0, scale_factor_width=1.5)
        noise = Builder.random_uniform(shape=(2, 3), low=0.0, high=1.0, seed=3)
        best = Builder.non_maximum_suppression(
            boxes=boxes, scores=scores, iou_threshold=0.5, max_boxes=3
        )
        return larger, noise, *best

    return program


def _recurrent() -> Any:
    @_program(Builder.TensorSpec((3, 1, 3)), Builder.TensorSpec((1, 4)))
    def program(x: Any, h: Any) -> Any:
        weights = {"weight_ih": _random(16, 3), "weight_hh": _random(16, 4), "bias": _random(16)}
        y, _, _ = Builder.lstm(x=x, initial_h=h, initial_c=h, output_sequence=True, **weights)
        weights = {"weight_ih": _random(12, 4), "weight_hh": _random(12, 4)}
        return Builder.gru(x=y, initial_h=h, output_sequence=True, **weights)

    return program


def _traced(module: nn.Module, width: int) -> Any:
    return torch.jit.trace(module.eval(), (torch.zeros(1, width),))


def _pipeline() -> Any:
    stages = [
        _converted(
            _traced(nn.Linear(4, 4), 4),
            inputs=[ct.TensorType(name=taken, shape=(1, 4))],
            outputs=[ct.TensorType(name=given)],
        )
        for taken, given in (("x", "hidden"), ("hidden", "y"))
    ]
    return ct.utils.make_pipeline(*stages)


def _classifier() -> Any:
    sizes = (ct.RangeDim(1, 4, default=1), 3)
    return _converted(
        _traced(nn.Softmax(-1), 3),
        inputs=[ct.TensorType(name="x", shape=sizes, default_value=np.ones((1, 3), np.float32))],
        classifier_config=ct.ClassifierConfig(["cat", "dog", "owl"]),
    )


def _wide() -> Any:
    inputs = [ct.TensorType(name="x", shape=(1, 64))]
    return _converted(_traced(nn.Linear(64, 32), 64), inputs=inputs)


def _blockwise() -> Any:
    options = cto.OpLinearQuantizerConfig(
        dtype="int4", granularity="per_block", block_size=16, weight_threshold=0
    )
    return cto.linear_quantize_weights(_wide(), cto.OptimizationConfig(global_config=options))


def _sparse_palette() -> Any:
    pruner = cto.OpMagnitudePrunerConfig(target_sparsity=0.6, weight_threshold=0)
    palettizer = cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=0)
    pruned = cto.prune_weights(_wide(), cto.OptimizationConfig(global_config=pruner))
    config = cto.OptimizationConfig(global_config=palettizer)
    return cto.palettize_weights(pruned, config, joint_compression=True)
