"""The session that this process runs, at most one at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from .conversation.session_conversation import SessionConversation

EndReason = Literal["stopped", "limit", "shutdown", "client disconnected"]
# Moments of a session's start, as `GET /_bot/session` names them.
StartMoment = Literal["botCalledAt", "transportConnectedAt", "firstFrameAt"]


# Longer messages are cut, because the service reads at most 64 KiB of a response, and JSON needs up to 12 bytes for a
# character.
_EXCEPTION_CHARACTERS = 4000
_MOST_MEETINGS = 20


@dataclass(frozen=True)
class SessionOutcome:
    """How a session ended:

    the HTTP status and completion status of `POST /bot` (docs/bot-contract.md, "End of a session"), and the exception
    that the bot raised.
    """

    status: int
    completion_status: str | None = None
    exception: BaseException | None = None

    def describe_exception(self) -> dict[str, Any]:
        """Return the exception as a field of a JSON object, which is empty if the bot raised none."""
        if self.exception is None:
            return {}
        kind = type(self.exception)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        try:
            message = str(self.exception)
        except Exception:
            message = ""
        return {"exception": {"type": name, "message": message[:_EXCEPTION_CHARACTERS]}}


@dataclass
class Session:
    """A session, from its start until after its end."""

    id: str
    started_at: datetime
    # ICE servers that the service sent with the session. None if it sent none; fetch them then.
    ice_servers: list[dict[str, Any]] | None = None
    # The reason of the first request to end the session. None before such a request.
    end_reason: EndReason | None = None
    outcome: SessionOutcome | None = None
    ended_at: datetime | None = None
    # When each moment of the start was reached.
    start_moments: dict[StartMoment, datetime] = field(default_factory=dict)
    # The meetings of rooms that the bot joined, as Daily numbers them.
    meetings: list[dict[str, str]] = field(default_factory=list)
    # The running calls of `bot()`: a second one starts when a WebRTC client connects to a session without a transport.
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    # Whether a WebRTC session still waits for its client to connect.
    waits_for_client: bool = False
    asked_to_end: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    # None if the conversation of the session is not recorded.
    conversation: SessionConversation | None = None
    # Functions to call, in order, when the session has ended.
    at_end: list[Callable[[], None]] = field(default_factory=list)
    # The description of the bot's exception, once it was requested.
    _exception: dict[str, Any] | None = None

    def end(self, reason: EndReason) -> None:
        """Cancel the bot. Call it again if the bot ignored a cancellation."""
        self.end_reason = self.end_reason or reason
        self.asked_to_end.set()
        for task in self.tasks:
            task.cancel()

    def note_client_disconnected(self) -> None:
        """Record that the client disconnected, which usually makes the bot end."""
        if self.conversation is not None:
            self.conversation.note_end("client-disconnected")

    async def close_recording(self) -> None:
        """Write the rest of the session's recording, if there is one. The bot has ended."""
        if self.conversation is not None:
            await self.conversation.close_recording()

    def reach(self, moment: StartMoment) -> None:
        """Record the time of a moment of the start. All calls for this moment after the first one are ignored."""
        if moment not in self.start_moments:
            self.start_moments[moment] = datetime.now(UTC)

    def note_meeting(self, meeting_id: str, participant_id: str) -> None:
        """Record that the bot joined a meeting. Further meetings are ignored once there are many."""
        meeting = {"meetingId": meeting_id, "participantId": participant_id}
        if meeting not in self.meetings and len(self.meetings) < _MOST_MEETINGS:
            self.meetings.append(meeting)
        self.reach("transportConnectedAt")

    def finish(self, outcome: SessionOutcome) -> None:
        """Record how the session ended. All calls after the first one are ignored."""
        if self.ended.is_set():
            return
        self.outcome = outcome
        self.ended_at = datetime.now(UTC)
        self.ended.set()
        for callback in self.at_end:
            callback()

    def report(self) -> dict[str, Any]:
        """Return the report for `GET /_bot/session`."""
        report: dict[str, Any] = {"sessionId": self.id, "startedAt": _iso(self.started_at)}
        for moment in get_args(StartMoment):
            reached_at = self.start_moments.get(moment)
            report[moment] = None if reached_at is None else _iso(reached_at)
        if self.meetings:
            report["meetings"] = self.meetings
        if self.outcome is None or self.ended_at is None:
            return report | {"state": "running"}
        report |= {"state": "ended", "status": self.outcome.status, "endedAt": _iso(self.ended_at)}
        if self.outcome.completion_status is not None:
            report["completionStatus"] = self.outcome.completion_status
        return report | self.describe_exception()

    def describe_exception(self) -> dict[str, Any]:
        """Return the exception of the bot like `SessionOutcome.describe_exception`, with a redacted message."""
        if self._exception is None:
            self._exception = {} if self.outcome is None else self.outcome.describe_exception()
            if self._exception and self.conversation is not None:
                message = self._exception["exception"]["message"]
                self._exception["exception"]["message"] = self.conversation.redact(message)
        return self._exception


class SessionRunningError(Exception):
    """Raised if a session is started while another one is running."""


class SessionSlot:
    """Contains the running session, or else the last session of this process."""

    def __init__(self) -> None:
        """Create a slot that contains no session yet."""
        self.latest: Session | None = None

    @property
    def running(self) -> Session | None:
        """The running session, or None."""
        return None if self.latest is None or self.latest.ended.is_set() else self.latest

    def start(self, session_id: str, max_seconds: float | None) -> Session:
        """Start a session with its time limit. Raises SessionRunningError if one is running."""
        if self.running is not None:
            raise SessionRunningError
        session = Session(id=session_id, started_at=datetime.now(UTC))
        self.latest = session
        if max_seconds is not None:
            timer = asyncio.get_running_loop().call_later(max_seconds, session.end, "limit")
            session.at_end.append(timer.cancel)
        return session

    def report(self) -> dict[str, Any]:
        """Return the body of `GET /_bot/session`."""
        return {"sessionId": None, "state": "idle"} if self.latest is None else self.latest.report()


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
