"""Silero VAD (16 kHz) as an ``nn.Module`` that keeps its own streaming state.

The published TorchScript model takes a chunk and carries its recurrent state and the last samples
of the previous chunk outside the graph. Here both are mutable buffers, so that
``forward(chunk[1, 512])`` is all a stream needs. Weights come from the original's state dict
(``silero_vad.jit``, names ``_model.*``); the numbers are the original's to the last bit.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

CHUNK = 512
"""Samples per call: 32 ms at 16 kHz."""
CONTEXT = 64
"""Samples of the previous chunk that precede the current one."""
HOP = 128
"""Samples between two frames of the short-time Fourier transform."""
HIDDEN = 128
"""Width of the recurrent state."""


class SpectralMagnitude(nn.Module):
    """Magnitude of a short-time Fourier transform, as one strided convolution.

    ``[1, samples]`` -> ``[1, 129, frames]``. The kernel's first half of rows holds the real
    part's basis, the second half the imaginary part's.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("forward_basis_buffer", torch.zeros(258, 1, 256))

    def forward(self, samples: Tensor) -> Tensor:
        padded = nn.functional.pad(samples, (0, CONTEXT), mode="reflect")
        spectrum = nn.functional.conv1d(padded.unsqueeze(1), self.forward_basis_buffer, stride=HOP)
        real, imaginary = spectrum[:, :129], spectrum[:, 129:]
        return torch.sqrt(real**2 + imaginary**2)


class EncoderBlock(nn.Module):
    """A convolution of width 3 and a ReLU."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.reparam_conv = nn.Conv1d(inputs, outputs, 3, stride=stride, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.reparam_conv(x))


class Decoder(nn.Module):
    """One LSTM cell and the projection of its output to a speech probability."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTMCell(HIDDEN, HIDDEN)
        self.decoder = nn.Sequential(
            nn.Dropout(0.1), nn.ReLU(), nn.Conv1d(HIDDEN, 1, 1), nn.Sigmoid()
        )

    def forward(self, features: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
        h, c = self.rnn(features.squeeze(-1), state)
        return self.decoder(h.unsqueeze(-1)), h, c


class SileroVAD(nn.Module):
    """Speech probability ``[1, 1]`` of each chunk ``[1, 512]`` (fp32, 16 kHz, -1..1) of a stream.

    Buffers ``h`` and ``c`` ``[1, 128]`` are the LSTM's state, ``context`` ``[1, 64]`` the end of
    the previous chunk; all begin at zero and are overwritten by every call.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stft = SpectralMagnitude()
        self.encoder = nn.Sequential(
            EncoderBlock(129, 128, 1),
            EncoderBlock(128, 64, 2),
            EncoderBlock(64, 64, 2),
            EncoderBlock(64, 128, 1),
        )
        self.decoder = Decoder()
        self.register_buffer("h", torch.zeros(1, HIDDEN))
        self.register_buffer("c", torch.zeros(1, HIDDEN))
        self.register_buffer("context", torch.zeros(1, CONTEXT))

    def forward(self, chunk: Tensor) -> Tensor:
        samples = torch.cat([self.context, chunk], dim=1)
        features = self.encoder(self.stft(samples))
        probability, h, c = self.decoder(features, (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        self.context.copy_(samples[:, -CONTEXT:])
        return probability.squeeze(1).mean(dim=1).unsqueeze(1)


def original_weights(jit_file: Path) -> dict[str, Tensor]:
    """The 16 kHz half of the published model's state dict."""
    prefix = "_model."
    original = torch.jit.load(jit_file, map_location="cpu").state_dict()
    return {
        name.removeprefix(prefix): value
        for name, value in original.items()
        if name.startswith(prefix)
    }


def load(jit_file: Path) -> SileroVAD:
    """The rebuilt model with the weights of ``silero_vad.jit``, in evaluation mode."""
    model = SileroVAD()
    missing, unexpected = model.load_state_dict(original_weights(jit_file), strict=False)
    if set(missing) != {"h", "c", "context"} or unexpected:
        raise ValueError(f"{jit_file} is not Silero VAD 6.2.3: {missing=}, {unexpected=}")
    return model.eval().requires_grad_(False)


def build() -> tuple[SileroVAD, tuple[Tensor]]:
    """The model and an example input, as ``pteron lower examples/silero_vad/model.py:build``."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from examples.silero_vad.data import silero_jit

    return load(silero_jit()), (torch.zeros(1, CHUNK),)
