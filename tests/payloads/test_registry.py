"""Finding readers, and the digest that names a payload."""

from __future__ import annotations

from pathlib import Path

import pytest

from pteron.errors import UnsupportedError
from pteron.payloads import find_reader, known_backends, open_payload, register, registry
from pteron.payloads.coreml.memfs import flatten
from pteron.payloads.coreml.package import directory_source
from pteron.payloads.digest import digest_files
from pteron.payloads.sources import FilesSource


class Reader:
    backend_id = "TestBackend"

    def open(self, payload, named_data, method):
        files = {"payload": payload, "extra": named_data["extra"]}
        return FilesSource(self.backend_id, files, method)


PLUG_IN = Reader()


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_registered", {})
    registry._load.cache_clear()
    yield
    registry._load.cache_clear()


def test_an_unknown_backend_is_unsupported_and_the_known_ones_are_named():
    with pytest.raises(UnsupportedError, match=r"'NoSuch'; there are: .*CoreMLBackend"):
        open_payload("NoSuch", b"")
    assert find_reader("NoSuch") is None


def test_a_registered_reader_is_used_and_gets_views():
    register(PLUG_IN)
    source = open_payload("TestBackend", bytearray(b"abc"), {"extra": b"x"}, "run")
    assert "TestBackend" in known_backends()
    assert source.read("payload") == b"abc"
    assert source.read("payload").readonly
    assert source.read("extra") == b"x"
    assert source.function == "run"


def test_a_plug_in_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A distribution as an installer leaves it."""
    (tmp_path / "plug_in.py").write_text("class READER:\n    backend_id = 'PluggedBackend'\n")
    info = tmp_path / "plug_in-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pteron.payloads]\nPluggedBackend = plug_in:READER\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_reader("PluggedBackend").backend_id == "PluggedBackend"
    assert "PluggedBackend" in known_backends()


def test_named_blobs_are_taken_by_their_data():
    class NamedBlob:
        data = memoryview(b"blob")

    register(PLUG_IN)
    assert open_payload("TestBackend", b"", {"extra": NamedBlob()}).read("extra") == b"blob"


def test_a_directory_and_its_payload_have_the_same_digest(corpus: Path):
    source = directory_source(corpus / "coreml/silero-vad-stft.mlpackage")
    payload = flatten(source.files, root="any", alignment=64)
    opened = open_payload("CoreMLBackend", payload)
    assert opened.digest() == source.digest()
    assert len(source.digest()) == 64


def test_any_difference_changes_the_digest():
    def digest(backend="B", **files):
        return digest_files(backend, {name: memoryview(data) for name, data in files.items()})

    different = {
        digest(a=b"1", b=b"2"),
        digest(a=b"2", b=b"1"),
        digest(a=b"12", b=b""),
        digest(a=b"12"),
        digest(ab=b"12"),
        digest("C", a=b"1", b=b"2"),
    }
    assert len(different) == 6
    assert digest(a=b"1", b=b"2") == digest(b=b"2", a=b"1")


def test_an_empty_file_in_a_directory(tmp_path: Path):
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    assert directory_source(tmp_path).files == {
        "model.mlpackage/empty": b"",
        "model.mlpackage/link": b"",
    }
