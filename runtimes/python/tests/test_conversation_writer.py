"""Tests of the conversation file."""

import json
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bothost_shim.conversation.writer import ConversationWriter, parse_level, to_name


def create_writer(path: Path) -> ConversationWriter:
    return ConversationWriter(str(path), "transcript", time.time())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "conversation"
    file.touch()
    return file


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("header", "level"),
    [
        ("off", "off"),
        ("timings", "timings"),
        ("transcript", "transcript"),
        (None, "off"),
        ("everything", "off"),
    ],
)
def test_level_is_off_unless_the_header_names_a_level(header: str | None, level: str) -> None:
    assert parse_level(header) == level


def test_writer_appends_lines_without_empty_fields(path: Path) -> None:
    path.write_text('{"kind":"earlier"}\n')
    create_writer(path).write("speech", side="user", to=None, turn=None)
    assert read(path) == [{"kind": "earlier"}, {"kind": "speech", "at": 0, "side": "user", "to": None}]


def test_writer_cuts_the_longest_text_of_a_line_that_is_too_long(path: Path) -> None:
    create_writer(path).write("error", text="short", message="é\n\ud800" * 10_000)
    data = path.read_bytes()
    assert 15_500 < len(data) <= 16_384
    line = json.loads(data)
    assert line["text"] == "short"
    assert line["message"].startswith("é\n?é\n?")


def test_writer_leaves_out_a_line_that_is_too_long_without_its_text(path: Path) -> None:
    writer = create_writer(path)
    writer.write("services", services=["x" * 20_000])
    writer.write("end", reason=None)
    assert [line["kind"] for line in read(path)] == ["end"]


def test_writer_stops_after_the_line_that_exceeds_the_size_of_the_file(path: Path) -> None:
    os.truncate(path, 16 * 1_048_576 - 10)
    writer = create_writer(path)
    for _ in range(3):
        writer.write("end", reason=None)
    assert path.read_bytes().count(b'"kind":"end"') == 1


@contextmanager
def full_disk(free_bytes: int) -> Iterator[None]:
    """Let writes fail in the middle, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("is_closed", [False, True])
def test_writer_keeps_lines_while_the_disk_is_full(path: Path, *, is_closed: bool) -> None:
    writer = create_writer(path)
    with full_disk(20):
        for turn in range(100):
            writer.write("turn", turn=turn)
    assert path.stat().st_size == 20
    if is_closed:
        writer.close()
    else:
        writer.write("turn", turn=100)
    assert [line["turn"] for line in read(path)] == list(range(100 if is_closed else 101))


def test_writer_keeps_at_most_a_mebibyte_while_the_disk_is_full(path: Path) -> None:
    writer = create_writer(path)
    with full_disk(0):
        for _ in range(100):
            writer.write("error", message="x" * 16_000)
    writer.close()
    assert 1_000_000 < path.stat().st_size <= 1_048_576
    assert len(read(path)) == path.stat().st_size // 16_000


def test_writer_writes_nothing_if_the_file_is_missing_or_not_a_regular_file(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.touch()
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "fifo", "missing", "."):
        create_writer(tmp_path / name).write("end", reason=None)
    assert target.read_text() == ""
    assert not (tmp_path / "missing").exists()


def test_writer_ignores_lines_after_it_was_closed(path: Path) -> None:
    writer = create_writer(path)
    writer.close()
    writer.write("end", reason=None)
    assert path.read_text() == ""


def test_times_are_limited_milliseconds_since_the_start(path: Path) -> None:
    writer = ConversationWriter(str(path), "timings", 1000.0)
    assert [writer.to_ms(at) for at in (999.0, 1001.2341, 1e12)] == [0, 1234, 15_000_000]


def test_name_has_no_control_characters_and_at_most_200_characters() -> None:
    assert to_name("a\x00b\n\ud800" + "c" * 300) == "ab" + "c" * 198
    assert to_name("") is None
    assert to_name(None) is None
