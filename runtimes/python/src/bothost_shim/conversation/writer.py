"""Appends lines to the conversation file, which the service created (docs/bot-contract.md, "Conversation")."""

import json
import os
import re
import threading
import time
from queue import SimpleQueue
from typing import Any, Literal, get_args

from .redaction import Redactor
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
# Characters of the arguments and of the result of a tool.
TOOL_TEXT_CHARACTERS = 4_000
# Lines that the recorder writes in its thread. They have no text.
_RECORDER_KINDS = ("recording", "peaks")
# Seconds to wait at the end of a session for lines that the bot's own function redacts.
_REDACTION_SECONDS = 3.0
# Bytes of lines that wait while the disk is full. Lines that exceed them are lost.
_PENDING_BYTES = 1_048_576
# Fields that are redacted, and cut if a line is too long.
_TEXT_FIELDS = ("text", "arguments", "result", "message")


def parse_level(header: str | None) -> Level:
    """Return the level that a start request asks for. It is `off` if the header is missing or not known."""
    levels: tuple[Level, ...] = get_args(Level)
    return next((level for level in levels if level == header), "off")


def keeps_text(level: str | None) -> bool:
    """Return whether a level, or a header that may name one, keeps what was said."""
    return level in ("transcript", "recording")


class ConversationWriter:
    """Appends each line with one write. Lines wait while the disk is full, and the session continues."""

    def __init__(self, path: str, level: Level, started_at: float, redactor: Redactor | None = None) -> None:
        """Open an existing regular file for appending. `started_at` is the session's start, as a Unix timestamp."""
        self.level = level
        self.redactor = redactor
        # What was said is redacted when it is complete, because its first part may end within a number.
        self._said: dict[str, Any] | None = None
        # Lines for a thread that redacts them, if the function of the bot may take a while. None ends the thread.
        self._lines: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.started_at = started_at
        self._descriptor = open_regular_file(path)
        # The recorder, and the thread that redacts, write lines in their threads.
        self._lock = threading.Lock()
        # Lines that could not be written yet. The first one may be the end of a line that the disk cut.
        self._pending = bytearray()
        self._size = 0 if self._descriptor is None else os.fstat(self._descriptor).st_size

    @property
    def has_text(self) -> bool:
        """Whether lines contain what was said, arguments and results of tools, and messages of errors."""
        return keeps_text(self.level)

    def to_ms(self, timestamp: float) -> int:
        """Convert a Unix timestamp in seconds to milliseconds since the session's start."""
        return max(0, min(_MAX_TIME_MS, round((timestamp - self.started_at) * 1000)))

    def write(self, kind: str, **fields: Any) -> None:
        """Append a line. Never raises."""
        line = {"kind": kind, "at": self.to_ms(time.time())}
        line |= {name: value for name, value in fields.items() if value is not None or name in _NULLABLE_FIELDS}
        if self.redactor is None or kind in _RECORDER_KINDS:
            self._append(line)
            return
        if kind == "said":
            if self._said is not None and _get_said_key(self._said) != _get_said_key(line):
                self._write_said()
            self._said = line
            return
        if kind == "end" or (kind == "turn" and fields.get("to") is not None):
            self._write_said()
        self._redact(line)

    def _write_said(self) -> None:
        if self._said is not None:
            self._redact(self._said)
            self._said = None

    def _redact(self, line: dict[str, Any]) -> None:
        if self.redactor is None or not self.redactor.calls_bot:
            self._append_redacted(line)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._append_lines, name="bothost conversation", daemon=True)
            self._thread.start()
        self._lines.put(line)

    def _append_lines(self) -> None:
        while (line := self._lines.get()) is not None:
            self._append_redacted(line)

    def _append_redacted(self, line: dict[str, Any]) -> None:
        if self.redactor is not None:
            for name in _TEXT_FIELDS:
                if name in line:
                    line[name] = self.redactor.redact(line[name])
        self._append(line)

    def _append(self, line: dict[str, Any]) -> None:
        for name in ("arguments", "result"):
            if name in line:
                line[name] = line[name][:TOOL_TEXT_CHARACTERS]
        data = _encode(line)
        if data is not None:
            with self._lock:
                self._write_data(data)

    def _write_data(self, data: bytes) -> None:
        if self._descriptor is None:
            return
        if len(self._pending) + len(data) <= _PENDING_BYTES:
            self._pending += data
        try:
            while self._pending:
                written = os.write(self._descriptor, self._pending)
                del self._pending[:written]
                self._size += written
        except OSError:
            return
        # The service reads no more than this and reports a longer file, so the line that exceeds the limit is written.
        if self._size > _FILE_BYTES:
            self._close_file()

    def close(self) -> None:
        """Close the file, after lines that are being redacted. Later lines are ignored."""
        self._write_said()
        if self._thread is not None:
            self._lines.put(None)
            self._thread.join(_REDACTION_SECONDS)
        with self._lock:
            self._write_data(b"")
            self._close_file()

    def _close_file(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _get_said_key(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["side"], line["turn"], line["from"]


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
