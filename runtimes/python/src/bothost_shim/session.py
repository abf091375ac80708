"""The one session of this process."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

EndReason = Literal["stopped", "limit", "shutdown", "client gone"]


@dataclass(frozen=True)
class Outcome:
    """How a session ended: the status of `POST /bot`, and a word when it has one (bot contract 2.8)."""

    status: int
    completion_status: str | None = None


@dataclass
class Session:
    """A session from its start to its end."""

    id: str
    started_at: datetime
    # Why it was asked to end: the first reason counts.
    end_reason: EndReason | None = None
    outcome: Outcome | None = None
    ended_at: datetime | None = None
    task: asyncio.Task[Any] | None = None
    # For its client, of whom nothing has been heard yet.
    waits: bool = False
    asked_to_end: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    # Run when it has ended, in order.
    at_end: list[Callable[[], None]] = field(default_factory=list)

    def end(self, reason: EndReason) -> None:
        """Ask it to end: cancels its bot. Asking again cancels again, for a bot that took the first for nothing."""
        self.end_reason = self.end_reason or reason
        self.asked_to_end.set()
        if self.task is not None:
            self.task.cancel()

    def finish(self, outcome: Outcome) -> None:
        """Record its end; the first call counts."""
        if self.ended.is_set():
            return
        self.outcome = outcome
        self.ended_at = datetime.now(UTC)
        self.ended.set()
        for callback in self.at_end:
            callback()

    def report(self) -> dict[str, Any]:
        """Answer what `GET /_bot/session` says of it (bot contract 2.2)."""
        report: dict[str, Any] = {"sessionId": self.id, "startedAt": _iso(self.started_at)}
        if self.outcome is None or self.ended_at is None:
            return report | {"state": "running"}
        report |= {"state": "ended", "status": self.outcome.status, "endedAt": _iso(self.ended_at)}
        if self.outcome.completion_status is not None:
            report["completionStatus"] = self.outcome.completion_status
        return report


class SessionRunningError(Exception):
    """A second start while a session runs."""


class SessionSlot:
    """Holds the session that runs, or the last one that did."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.latest: Session | None = None

    @property
    def running(self) -> Session | None:
        """The session that runs."""
        return None if self.latest is None or self.latest.ended.is_set() else self.latest

    def begin(self, session_id: str, max_seconds: float | None) -> Session:
        """Begin one, with its time limit. Raises SessionRunningError when one runs."""
        if self.running is not None:
            raise SessionRunningError
        session = Session(id=session_id, started_at=datetime.now(UTC))
        self.latest = session
        if max_seconds is not None:
            timer = asyncio.get_running_loop().call_later(max_seconds, session.end, "limit")
            session.at_end.append(timer.cancel)
        return session

    def report(self) -> dict[str, Any]:
        """Answer what `GET /_bot/session` says."""
        return {"sessionId": None, "state": "idle"} if self.latest is None else self.latest.report()


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
