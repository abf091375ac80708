"""Appends lines to the conversation file, which the service created (docs/bot-contract.md, "Conversation")."""

import json
import os
import re
import threading
import time
from typing import Any, Literal, get_args

from .regular_file import open_regular_file

Level = Literal["off", "timings", "transcript", "recording"]

# Limits of packages/contract/src/conversation/level.ts.
_LINE_BYTES = 16_384
_FILE_BYTES = 16 * 1_048_576
_MAX_TIME_MS = 15_000_000
_NAME_CHARACTERS = 200
# Control characters and lone surrogates, which names must not contain.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Fields that have a meaning if they are null. Other fields without a value are left out.
_NULLABLE_FIELDS = frozenset({"to", "released", "reason"})
# Fields that are cut if a line is too long.
_TEXT_FIELDS = ("text", "arguments", "result", "message")


def parse_level(header: str | None) -> Level:
    """Return the level that a start request asks for. It is `off` if the header is missing or not known."""
    levels: tuple[Level, ...] = get_args(Level)
    return next((level for level in levels if level == header), "off")


def keeps_text(level: str | None) -> bool:
    """Return whether a level, or a header that may name one, keeps what was said."""
    return level in ("transcript", "recording")


class ConversationWriter:
    """Appends each line with one write. A line that cannot be written is lost, and the session continues."""

    def __init__(self, path: str, level: Level, started_at: float) -> None:
        """Open an existing regular file for appending. `started_at` is the session's start, as a Unix timestamp."""
        self.level = level
        self.started_at = started_at
        self._descriptor = open_regular_file(path)
        # The recorder writes lines in its thread.
        self._lock = threading.Lock()
        self._is_line_torn = False
        self._size = 0 if self._descriptor is None else os.fstat(self._descriptor).st_size

    @property
    def has_text(self) -> bool:
        """Whether lines contain what was said, arguments and results of tools, and messages of errors."""
        return keeps_text(self.level)

    def to_ms(self, timestamp: float) -> int:
        """Convert a Unix timestamp in seconds to milliseconds since the session's start."""
        return max(0, min(_MAX_TIME_MS, round((timestamp - self.started_at) * 1000)))

    def write(self, kind: str, **fields: Any) -> bool:
        """Append a line. Returns whether that was possible. Never raises."""
        line = {"kind": kind, "at": self.to_ms(time.time())}
        line |= {name: value for name, value in fields.items() if value is not None or name in _NULLABLE_FIELDS}
        data = _encode(line)
        with self._lock:
            return data is not None and self._append(data)

    def close(self) -> None:
        """Close the file. Later lines are ignored."""
        with self._lock:
            self._close()

    def _append(self, data: bytes) -> bool:
        if self._descriptor is None:
            return False
        # A write on a full disk may have appended the beginning of a line only.
        data = b"\n" + data if self._is_line_torn else data
        try:
            written = os.write(self._descriptor, data)
        except OSError:
            return False
        self._is_line_torn = written < len(data)
        self._size += written
        # The service reads no more than this and reports a longer file, so the line that exceeds the limit is written.
        if self._size > _FILE_BYTES:
            self._close()
        return not self._is_line_torn

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def to_name(value: object) -> str | None:
    """Return a value as the name of a service, model or tool, or None if it is empty."""
    name = _UNPRINTABLE.sub("", str(value or ""))[:_NAME_CHARACTERS]
    return name or None


def _encode(line: dict[str, Any]) -> bytes | None:
    """Return a line, with its longest texts cut if it is too long. Returns None if it is too long without them."""
    data = _dump(line)
    while len(data) > _LINE_BYTES:
        name = max(_TEXT_FIELDS, key=lambda field: len(line.get(field, "")))
        text = line.get(name, "")
        if not text:
            return None
        excess = len(data) - _LINE_BYTES
        # Assume that each character takes as many bytes as the average one.
        line[name] = text[: int(len(text) * max(0, 1 - excess / len(_dump(text)) - 0.01))]
        data = _dump(line)
    return data


def _dump(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate cannot be encoded.
    return text.encode("utf-8", "replace") + b"\n"
