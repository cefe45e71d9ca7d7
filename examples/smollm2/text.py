"""Text to tokens and back: the tokenizer and the chat template that a GGUF file carries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gguf import GGUFReader, TokenType
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.decoders import DecodeStream
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence


class Text:
    """What stands between a chat and the model's tokens.

    Attributes:
        end: the token that ends an answer.
    """

    def __init__(self, path: Path) -> None:
        reader = GGUFReader(path)
        fields = {name: field.contents() for name, field in reader.fields.items()}
        if fields["tokenizer.ggml.pre"] != "smollm":
            raise ValueError(f"{path}: its text is split as for {fields['tokenizer.ggml.pre']}")
        self.end: int = fields["tokenizer.ggml.eos_token_id"]
        self._tokenizer = _tokenizer(
            fields["tokenizer.ggml.tokens"],
            fields["tokenizer.ggml.token_type"],
            fields["tokenizer.ggml.merges"],
        )
        template = fields["tokenizer.chat_template"]
        self._template = ImmutableSandboxedEnvironment().from_string(template)

    def chat(self, *turns: str) -> list[int]:
        """Tokens of a chat that waits for an answer; turns are the user's, then the model's, ..."""
        messages = [
            {"role": ("user", "assistant")[index % 2], "content": turn}
            for index, turn in enumerate(turns)
        ]
        return self.tokens(self._template.render(messages=messages, add_generation_prompt=True))

    def tokens(self, text: str) -> list[int]:
        """Tokens of a text as it is."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def text(self, tokens: list[int]) -> str:
        """The text of tokens, without the special ones."""
        decoded: str = self._tokenizer.decode(tokens)
        return decoded

    def stream(self) -> Callable[[int], str]:
        """A function that takes an answer's tokens in turn and gives what each adds to the text."""
        decoding = DecodeStream(skip_special_tokens=True)
        return lambda token: decoding.step(self._tokenizer, token) or ""


def _tokenizer(tokens: list[str], kinds: list[int], merges: list[str]) -> Tokenizer:
    """Byte-level BPE in which every digit is a word of its own (llama.cpp calls it ``smollm``)."""
    pairs = [(left, right) for left, right in (merge.split(" ") for merge in merges)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(BPE(vocabulary, pairs))
    tokenizer.pre_tokenizer = Sequence(
        [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = ByteLevelDecoder()
    special = [t for t, kind in zip(tokens, kinds, strict=True) if kind == TokenType.CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in special])
    return tokenizer
