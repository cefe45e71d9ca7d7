"""The models that :mod:`tests.engines.test_whole_models` converts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Model:
    """A module, inputs for it, and how many roundings deep it is."""

    module: nn.Module
    inputs: tuple[Tensor, ...]
    depth: int


class Residual(nn.Module):
    def __init__(self, width: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, stride, 1, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 1)
        self.skip = nn.Conv2d(width, width, 1, stride)
        with torch.no_grad():
            self.norm.running_mean.normal_(0, 0.1)
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Tensor) -> Tensor:
        y = functional.silu(self.norm(self.first(x)))
        return functional.relu(self.second(y) + self.skip(x))


def convolutional() -> Model:
    stem = [nn.Conv2d(3, 16, 5, 2, 2), nn.SiLU(), nn.MaxPool2d(2)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)]
    module = nn.Sequential(*stem, Residual(16), Residual(16, 2, 16), *head)
    return Model(module, (torch.randn(2, 3, 32, 32),), 16)


def transformer() -> Model:
    return Model(Encoder(32, 4), (torch.randint(0, 50, (2, 12), dtype=torch.int32),), 24)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2])
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Encoder(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, width), nn.Embedding(16, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.attention = nn.ModuleList(Attention(width, heads) for _ in range(2))
        self.wide = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(2))
        self.narrow = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(2))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for i in range(2):
            x = x + self.attention[i](self.norms[2 * i](x))
            x = x + self.narrow[i](functional.gelu(self.wide[i](self.norms[2 * i + 1](x))))
        return x.mean(1)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(32, 8, batch_first=True)
        self.out = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y, _ = self.lstm(x)
        y, last = self.gru(y)
        return torch.log_softmax(self.out(y), -1), last


def recurrent() -> Model:
    return Model(Recurrent(), (torch.randn(1, 10, 8),), 40)


class Segmentation(nn.Module):
    """A U-Net of two levels."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 16, 3, 2, 1)
        self.dilated = nn.Conv2d(16, 16, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.leave = nn.Conv2d(16, 5, 1)

    def forward(self, x: Tensor) -> Tensor:
        high = functional.leaky_relu(self.enter(x))
        low = functional.elu(self.dilated(functional.hardswish(self.down(high))))
        y = self.leave(torch.cat([high, self.up(low)], 1))
        y = functional.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)
        return torch.softmax(y, 1)


def segmentation() -> Model:
    return Model(Segmentation(), (torch.randn(1, 3, 24, 16),), 16)


class Detection(nn.Module):
    """Boxes and scores on a grid, the best of them picked by score."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 5, 3, 2, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        raw = self.body(x).flatten(2).transpose(1, 2)
        scores, places = torch.topk(torch.sigmoid(raw[..., 4]), 6)
        boxes = torch.cat([raw[..., :2] - raw[..., 2:4].exp() / 2, raw[..., 2:4].exp()], -1)
        return torch.gather(boxes, 1, places.unsqueeze(-1).expand(-1, -1, 4)), scores


def detection() -> Model:
    return Model(Detection(), (torch.randn(2, 3, 32, 32),), 16)


class Diffusion(nn.Module):
    """A block of a diffusion model: group norms, a time embedding, attention over pixels."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(16, width)
        self.attention = Attention(width, 4)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        angles = time[:, None] * torch.exp(-torch.arange(8) / 4)
        embedding = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        y = self.convs[0](functional.silu(self.norms[0](x))) + embedding[:, :, None, None]
        y = x + self.convs[1](functional.silu(self.norms[1](y)))
        pixels = self.norms[2](y).flatten(2).transpose(1, 2)
        return y + self.attention(pixels).transpose(1, 2).reshape(y.shape)


def diffusion() -> Model:
    return Model(Diffusion(), (torch.randn(1, 32, 8, 8), torch.tensor([3.0])), 24)


MODELS: list[Callable[[], Model]] = [
    convolutional,
    transformer,
    recurrent,
    segmentation,
    detection,
    diffusion,
]
