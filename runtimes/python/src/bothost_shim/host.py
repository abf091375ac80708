"""The state of the Python host, which all routes share."""

import asyncio
from dataclasses import dataclass, field
from uuid import uuid4

from .asgi import Scope, get_first_header
from .bot_module import Bot
from .conversation.current import record_conversation
from .conversation.redaction import Redactor, create_redactor
from .conversation.session_conversation import logs_text
from .conversation.writer import Level, keeps_text, parse_level
from .http_exchange import HttpError
from .ice_servers import take_ice_servers
from .log_lines import limit_session_log, logger
from .offers import WebRtcOfferAcceptor
from .run_bot import log_session_start_and_end
from .session import Session, SessionRunningError, SessionSlot
from .settings import Settings

# Maximum seconds for deleting one uploaded file, because unresponsive storage must not delay the end of a session.
_DELETE_SECONDS = 5.0


@dataclass
class PythonHost:
    """The bot of this process and its session."""

    settings: Settings
    bot: Bot
    slot: SessionSlot = field(default_factory=SessionSlot)
    offers: WebRtcOfferAcceptor = field(default_factory=WebRtcOfferAcceptor)
    # URLs of the files that clients uploaded in the running session.
    uploads: list[str] = field(default_factory=list)
    # Set when the process accepts no further session.
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    # Set when a session has ended.
    session_over: asyncio.Event = field(default_factory=asyncio.Event)
    # The last error of the bot's `readyz()`.
    readiness_error: str | None = None

    def start_session(self, scope: Scope) -> Session:
        """Start a session with the id in the request's headers. Raises HttpError 409 or 503."""
        if self.draining.is_set():
            raise HttpError(503, "The instance accepts no further session")
        session_id = get_first_header(scope, "x-session-id", "x-daily-session-id")
        try:
            session = self.slot.start(session_id or self.settings.session_id or str(uuid4()), _max_seconds(scope))
        except SessionRunningError as error:
            raise HttpError(409, "A session is already running") from error
        session.ice_servers = take_ice_servers(scope)
        level, redactor = self._read_conversation_headers(scope)
        if self.settings.limits_session_log:
            limit_session_log(keeps_text=logs_text(level, redactor))
        log_session_start_and_end(session, self.settings.image_version)
        record_conversation(session, self.settings, level, redactor)
        session.at_end.append(self.session_over.set)
        return session

    def _read_conversation_headers(self, scope: Scope) -> tuple[Level, Redactor | None]:
        level = parse_level(get_first_header(scope, "bothost-conversation-level"))
        if not keeps_text(level):
            return level, None
        try:
            return level, create_redactor(get_first_header(scope, "bothost-conversation-redact"), self.bot.redact)
        except ValueError as error:
            logger.error("The conversation has no text: %s", error)
            return "timings", None

    async def delete_uploads(self) -> None:
        """Delete the session's uploads. Failures are logged."""
        urls, self.uploads[:] = list(self.uploads), []
        for url in urls:
            try:
                async with asyncio.timeout(_DELETE_SECONDS):
                    await self.bot.file_storage.delete(url)
            except Exception:
                logger.exception("The file storage could not delete an upload")


def _max_seconds(scope: Scope) -> float | None:
    try:
        seconds = float(get_first_header(scope, "x-max-session-seconds", "x-pcc-max-session-seconds") or "")
    except ValueError:
        return None
    return seconds if 0 < seconds <= 2_000_000 else None
