"""The conversation of the running session."""

import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from ..setup_file import add_setup_file
from .redaction import Redactor
from .session_conversation import SessionConversation
from .writer import ConversationWriter, Level

if TYPE_CHECKING:
    from ..session import EndReason, Session
    from ..settings import Settings

# Maps why the host ended the session to the reason in the conversation's `end` line.
_END_REASONS: dict["EndReason", str] = {
    "stopped": "stopped",
    "limit": "time-limit",
    "shutdown": "shutdown",
    "client disconnected": "client-disconnected",
}


class _Current:
    def __init__(self) -> None:
        self.conversation: SessionConversation | None = None


_current = _Current()


def get_current_conversation() -> SessionConversation | None:
    """Return the conversation of the running session, or None if it is not recorded."""
    return _current.conversation


def record_conversation(session: "Session", settings: "Settings", level: Level, redactor: Redactor | None) -> None:
    """Record the conversation of a session until it ends, unless the level is `off`."""
    if settings.conversation_file is None or level == "off":
        return
    writer = ConversationWriter(settings.conversation_file, level, session.started_at.timestamp(), redactor)
    conversation = SessionConversation(writer, session.id, settings.recording_file)
    session.conversation = _current.conversation = conversation
    add_setup_file()

    def end() -> None:
        _current.conversation = None
        exception = session.describe_exception().get("exception")
        conversation.end(None if session.end_reason is None else _END_REASONS[session.end_reason], exception)

    session.at_end.append(end)


def preload_pipecat_observer() -> None:
    """Import the observer before the first session. Does nothing if the bot has not imported Pipecat."""
    _preload(f"{__package__}.attach")


def preload_recorder() -> None:
    """Import the recorder and its encoder before the first session, if the bot has imported Pipecat."""
    _preload(f"{__package__}.recorder", "soundfile")


def _preload(*modules: str) -> None:
    if "pipecat" in sys.modules:
        for module in modules:
            # An older Pipecat may lack a class that the observer needs, or a package that the recorder needs.
            with suppress(Exception):
                import_module(module)
