"""Runs the bot of a session until it ends."""

import asyncio
import inspect
import json
from typing import Any

from .bot_module import Bot
from .log_lines import logger, set_session_id
from .session import Session, SessionOutcome


def log_session_start_and_end(session: Session, image_version: str | None) -> None:
    """Log the start and the end of the session (docs/bot-contract.md, "Output")."""
    metadata = json.dumps({"session_id": session.id, "image_version": image_version})
    set_session_id(session.id)
    logger.info("Starting bot session with metadata: %s", metadata)

    def leave() -> None:
        logger.info("Stopping bot session with metadata: %s", metadata)
        set_session_id(None)

    session.at_end.append(leave)


async def run_bot(session: Session, bot: Bot, arguments: Any) -> SessionOutcome:
    """Run `bot(arguments)` and return the outcome. Never raises. The caller must mark the session as ended."""
    if session.asked_to_end.is_set():
        return map_end_reason_to_outcome(session)
    session.reach("botCalledAt")
    task = asyncio.create_task(_call(bot, arguments), name=f"bot of session {session.id}")
    session.tasks.add(task)
    await asyncio.wait({task})
    session.tasks.discard(task)
    failure = None if task.cancelled() else task.result()
    if failure is None:
        return map_end_reason_to_outcome(session)
    logger.error("The bot raised %s", type(failure).__name__, exc_info=failure)
    # If the session was requested to end, the reason of this request decides the outcome, even if the bot raised an
    # error.
    if session.end_reason is not None:
        return map_end_reason_to_outcome(session)
    return SessionOutcome(500, exception=failure)


def map_end_reason_to_outcome(session: Session) -> SessionOutcome:
    """Return the outcome of a session whose bot did not fail."""
    if session.end_reason == "limit":
        return SessionOutcome(200, "SESSION_TIME_LIMIT")
    return SessionOutcome(503) if session.end_reason == "shutdown" else SessionOutcome(200)


async def _call(bot: Bot, arguments: Any) -> BaseException | None:
    """Run the bot and return its exception, or None. A bot that calls `sys.exit()` ends only its session."""
    try:
        running = bot.run(arguments)
        if not inspect.isawaitable(running):
            return TypeError("bot(args) must be async")
        await running
    except SystemExit as error:
        return None if error.code in (None, 0) else error
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:
        return error
    return None
