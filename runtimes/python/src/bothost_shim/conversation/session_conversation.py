"""The conversation of a session: its file, its turns, and how it ended."""

import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..settings import read_session_log_level
from .redaction import Redactor
from .turns import TurnRecorder
from .writer import ConversationWriter, Level, keeps_text, to_name

if TYPE_CHECKING:
    from .recorder import SessionRecorder


def logs_text(level: Level, redactor: Redactor | None) -> bool:
    """Return whether the log of a session may contain the conversation. The log is not redacted."""
    return keeps_text(level) and redactor is None


class SessionConversation:
    """Records the conversation of one session, which may have several pipelines, until `end` is called."""

    def __init__(self, writer: ConversationWriter, session_id: str, recording_path: str | None = None) -> None:
        """Prepare to write the lines of a session with a writer."""
        self.session_id = session_id
        self._recording_path = recording_path
        self._recorder: SessionRecorder | None = None
        self.writer = writer
        self.turns = TurnRecorder(writer)
        started = datetime.fromtimestamp(writer.started_at, UTC).isoformat(timespec="milliseconds")
        log_level = read_session_log_level(os.environ, keeps_text=logs_text(writer.level, writer.redactor))
        self._header: dict[str, Any] = {
            "startedAt": started.replace("+00:00", "Z"),
            "level": writer.level,
            # A user may choose a number, which the contract does not allow.
            "logLevel": log_level if log_level.isalpha() else None,
        }
        self._is_observed = False
        self._services: dict[str, dict[str, Any]] = {}
        self._noted_end: str | None = None

    def redact(self, text: str) -> str:
        """Return a text as the conversation may contain it."""
        return text if self.writer.redactor is None else self.writer.redactor.redact(text)

    def add_services(self, services: Iterable[dict[str, Any]], **header: Any) -> None:
        """Add services of a pipeline, and write all services. `header` has further fields of the line."""
        self._is_observed = True
        self._header |= header
        for service in services:
            self._services[service["name"]] = service
        self.writer.write(
            "services", sessionId=self.session_id, **self._header, services=list(self._services.values())[:50]
        )

    def update_model(self, service: str, model: str) -> None:
        """Record the model that a service uses now."""
        known = self._services.get(service)
        if known is not None and known.get("model") != model:
            known["model"] = model
            self.add_services([])

    @property
    def has_speech_recognition(self) -> bool:
        """Whether a service recognizes the user's words, independently of the language model."""
        return any(service["role"] == "stt" for service in self._services.values())

    @property
    def is_observed(self) -> bool:
        """Whether a pipeline of the session is observed."""
        return self._is_observed

    def record_audio(self) -> "SessionRecorder | None":
        """Start the recording of the session, if its level has one, and return its recorder."""
        if self._recorder is None and self.writer.level == "recording":
            # Imported here, because it needs packages that only Pipecat brings.
            from .recorder import SessionRecorder

            self._recorder = SessionRecorder(self._recording_path, self.writer)
        return self._recorder

    async def close_recording(self) -> None:
        """Write the rest of the recording, before `end`."""
        if self._recorder is not None:
            await self._recorder.close()

    def note_end(self, reason: str) -> None:
        """Note why the session is ending. Only the first reason counts."""
        self._noted_end = self._noted_end or reason

    def end(self, reason: str | None, exception: dict[str, str] | None) -> None:
        """Write the end of the session and close the file.

        `reason` is set if the host ended the session. `exception` has the `type` and `message` of the bot's exception.
        """
        if self.is_observed:
            self.turns.close(time.time())
            if exception is not None:
                self.writer.write(
                    "error",
                    turn=self.turns.turn,
                    category="application",
                    exceptionType=to_name(exception["type"]),
                    message=exception["message"] if self.writer.has_text else None,
                    fatal=True,
                )
            self.writer.write("end", sessionId=self.session_id, reason=self._end_reason(reason, exception))
        if self._recorder is not None:
            self._recorder.end()
        self.writer.close()

    def _end_reason(self, reason: str | None, exception: dict[str, str] | None) -> str:
        if self._noted_end in ("client-disconnected", "end-frame"):
            return self._noted_end
        # The host cancels a bot that it ends, and a canceled bot may raise.
        if reason is not None:
            return reason
        return "failed" if exception is not None else self._noted_end or "returned"
