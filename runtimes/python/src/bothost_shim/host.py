"""What the routes share."""

import asyncio
from dataclasses import dataclass, field
from uuid import uuid4

from .asgi import Scope, header
from .bot_module import Bot
from .http_exchange import HttpError
from .log_lines import logger
from .offers import OfferDesk
from .run_bot import announce
from .session import Session, SessionRunningError, SessionSlot
from .settings import Settings

# A storage that does not answer must not hold up the end of a session.
_DELETE_SECONDS = 5.0


@dataclass
class Host:
    """A process with its bot and its one session."""

    settings: Settings
    bot: Bot
    slot: SessionSlot = field(default_factory=SessionSlot)
    offers: OfferDesk = field(default_factory=OfferDesk)
    # URLs of what clients uploaded in the running session.
    uploads: list[str] = field(default_factory=list)
    # Set when it takes no further session.
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    # Told when a session has ended.
    session_over: asyncio.Event = field(default_factory=asyncio.Event)
    # What the bot's `readyz()` last raised.
    readiness_error: str | None = None

    def begin_session(self, scope: Scope) -> Session:
        """Begin the session that the headers of bot contract 2.3 name. Raises HttpError 409, 503."""
        if self.draining.is_set():
            raise HttpError(503, "This instance takes no further session")
        session_id = header(scope, "x-session-id", "x-daily-session-id")
        try:
            session = self.slot.begin(session_id or self.settings.session_id or str(uuid4()), _max_seconds(scope))
        except SessionRunningError as error:
            raise HttpError(409, "A session is running already") from error
        announce(session, self.settings.image_version)
        session.at_end.append(self.session_over.set)
        return session

    async def delete_uploads(self) -> None:
        """Delete what clients uploaded in the session; what cannot be deleted is logged."""
        urls, self.uploads[:] = list(self.uploads), []
        for url in urls:
            try:
                async with asyncio.timeout(_DELETE_SECONDS):
                    await self.bot.file_storage.delete(url)
            except Exception:
                logger.exception("The file storage could not delete an upload")


def _max_seconds(scope: Scope) -> float | None:
    try:
        seconds = float(header(scope, "x-max-session-seconds", "x-pcc-max-session-seconds") or "")
    except ValueError:
        return None
    return seconds if 0 < seconds <= 2_000_000 else None
