"""Environment variables of the host (docs/bot-contract.md, "Environment")."""

from collections.abc import Mapping
from dataclasses import dataclass


class InvalidSettingError(Exception):
    """A variable with an invalid value. The message names it."""


@dataclass(frozen=True)
class Settings:
    """The parsed environment."""

    host: str
    port: int
    # Required on reserved paths. None: no control.
    control_token: str | None
    # The id of a session whose request has none.
    session_id: str | None
    # Fetched for every offer.
    ice_config_url: str | None
    # JSON, used if the URL is missing or fails.
    ice_servers: str | None
    log_level: str
    image_version: str | None
    # Exit after the first session.
    one_shot: bool
    # Seconds that a WebRTC session waits for its client.
    offer_seconds: float
    # Seconds that a drain may take. None: until the session ends.
    drain_seconds: float | None


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the environment.

    Raises InvalidSettingError for an invalid port. An invalid number of seconds counts as unset.
    """
    return Settings(
        host=environment.get("BOT_HOST") or "0.0.0.0",  # noqa: S104 for containers
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
    # Excludes NaN and values that a timer cannot represent.
    return number if 0 < number <= 2_000_000 else None
