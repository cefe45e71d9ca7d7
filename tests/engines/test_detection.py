"""A detector from image to boxes: a torch module, and a program of non-maximum suppression behind.

The reference is the definition: boxes in order of their scores, each dropped that overlaps one
kept before by more than the threshold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import pytest
import torch
from coremltools.converters.mil import Builder
from torch import Tensor, nn

import pteron

BOXES, CLASSES, MOST, OVERLAP = 64, 3, 12, 0.4


class Detector(nn.Module):
    """Boxes ``[1, 4, 64]`` (centre, width, height) and scores ``[1, classes, 64]`` on a grid."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 8, 3, 2, 1))
        self.boxes, self.scores = nn.Conv2d(8, 4, 1), nn.Conv2d(8, CLASSES, 1)
        steps = torch.arange(8.0)
        places = torch.stack(torch.meshgrid(steps, steps, indexing="xy")).flatten(1)
        self.register_buffer("places", places)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        features = self.body(image)
        raw = self.boxes(features).flatten(2)
        centres = self.places + torch.tanh(raw[:, :2])
        sizes = 2.0 * torch.exp(torch.tanh(raw[:, 2:]))
        scores = torch.sigmoid(4 * self.scores(features)).flatten(2)
        return torch.cat([centres, sizes], 1), scores


def converted(program: Any, **options: Any) -> Any:
    return ct.convert(
        program,
        skip_model_load=True,
        minimum_deployment_target=ct.target.iOS17,
        compute_precision=ct.precision.FLOAT32,
        **options,
    )


def detector() -> Any:
    traced = torch.jit.trace(Detector().eval(), (torch.zeros(1, 3, 32, 32),))
    outputs = [ct.TensorType(name=name) for name in ("boxes", "scores")]
    inputs = [ct.TensorType(name="image", shape=(1, 3, 32, 32))]
    return converted(traced, inputs=inputs, outputs=outputs)


def suppression(per_class: bool) -> Any:
    @Builder.program(
        input_specs=[Builder.TensorSpec((1, 4, BOXES)), Builder.TensorSpec((1, CLASSES, BOXES))],
        opset_version=ct.target.iOS17,
    )
    def program(boxes: Any, scores: Any) -> Any:
        kept = Builder.non_maximum_suppression(
            boxes=boxes,
            scores=scores,
            iou_threshold=np.float32(OVERLAP),
            max_boxes=MOST,
            per_class_suppression=per_class,
        )
        names = ("best_boxes", "best_scores", "places")
        return tuple(Builder.identity(x=x, name=name) for x, name in zip(kept, names, strict=True))

    return converted(program)


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Intersection over union of two boxes (x, y, width, height)."""
    low = np.maximum(one[:2] - one[2:] / 2, other[:2] - other[2:] / 2)
    high = np.minimum(one[:2] + one[2:] / 2, other[:2] + other[2:] / 2)
    common = np.prod(np.maximum(high - low, 0))
    return float(common / (np.prod(one[2:]) + np.prod(other[2:]) - common))


def kept_by_definition(boxes: np.ndarray, scores: np.ndarray, per_class: bool) -> list[int]:
    kept: list[int] = []
    for candidate in np.argsort(-scores.max(0), kind="stable"):
        rivals = [k for k in kept if not per_class or best(scores, k) == best(scores, candidate)]
        if all(overlap(boxes[:, candidate], boxes[:, rival]) <= OVERLAP for rival in rivals):
            kept.append(int(candidate))
    return kept[:MOST]


def best(scores: np.ndarray, place: int) -> int:
    return int(scores[:, place].argmax())


@pytest.mark.parametrize("per_class", [False, True])
def test_the_best_boxes_are_those_of_the_definition(per_class: bool, tmp_path: Path) -> None:
    pipeline = ct.utils.make_pipeline(detector(), suppression(per_class))
    pipeline.save(str(tmp_path / "detector.mlpackage"))
    module = pteron.load(tmp_path / "detector.mlpackage", cache=None, precision="f32")
    assert [value.name for value in module.methods["main"].inputs] == ["image"]
    for seed in range(4):
        image = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            boxes, scores = (found[0].numpy() for found in Detector().eval()(image))
        expected = kept_by_definition(boxes, scores, per_class)
        assert len(expected) > 3
        best_boxes, best_scores, places = module.methods["main"](image.numpy())
        count = len(expected)
        assert places[0, :count].tolist() == expected
        assert (places[0, count:] == -1).all()
        np.testing.assert_allclose(best_boxes[0, :, :count], boxes[:, expected], atol=1e-4)
        np.testing.assert_allclose(best_scores[0, :, :count], scores[:, expected], atol=1e-4)
        assert not best_boxes[0, :, count:].any()
