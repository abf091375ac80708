"""What the bot's host is told from outside (bot contract 2.4)."""

from collections.abc import Mapping
from dataclasses import dataclass


class InvalidSettingError(Exception):
    """A variable that cannot be what it says; the message names it."""


@dataclass(frozen=True)
class Settings:
    """The environment, read once."""

    host: str
    port: int
    # Asked for on reserved paths; None lets everybody in.
    control_token: str | None
    # Names a session whose requests carry no id.
    session_id: str | None
    # Fetched anew for every offer.
    ice_config_url: str | None
    # JSON; what counts when the URL has nothing to say.
    ice_servers: str | None
    log_level: str
    image_version: str | None
    # End with the first session.
    one_shot: bool
    # How long a WebRTC session waits for its client, in seconds.
    offer_seconds: float
    # How long a drain may take, in seconds; None: as long as the session does.
    drain_seconds: float | None


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the environment.

    Raises InvalidSettingError for a port that is none. A number that only tunes something and is none counts as
    unset: the environment of older hosts has such values (bot contract 3.2, `SHUTDOWN_TIMEOUT`).
    """
    return Settings(
        host=environment.get("BOT_HOST") or "0.0.0.0",  # noqa: S104 bot contract 2.1; a service that shares a machine says less
        port=_port(environment.get("PORT") or "8080"),
        control_token=environment.get("BOT_CONTROL_TOKEN") or None,
        session_id=environment.get("BOT_SESSION_ID") or None,
        ice_config_url=environment.get("ICE_CONFIG_URL") or None,
        ice_servers=environment.get("PIPECAT_ICE_SERVERS") or None,
        log_level=(environment.get("PIPECAT_LOG_LEVEL") or "DEBUG").upper(),
        image_version=environment.get("IMAGE_VERSION") or None,
        one_shot=environment.get("BOT_ONE_SHOT") == "1",
        offer_seconds=_positive(environment.get("BOT_CONNECTION_TIMEOUT")) or 120.0,
        drain_seconds=_positive(environment.get("SHUTDOWN_TIMEOUT")),
    )


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        raise InvalidSettingError(f'PORT must be a number from 0 to 65535, not "{text}"')
    return port


def _positive(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    # Not NaN, and nothing that a timer cannot hold.
    return number if 0 < number <= 2_000_000 else None
