"""Reads the environment variables of the Python host shim (docs/bot-contract.md, "Environment")."""

from collections.abc import Mapping
from dataclasses import dataclass


class InvalidSettingError(Exception):
    """Raised if an environment variable has an invalid value. The message contains its name."""


@dataclass(frozen=True)
class Settings:
    """The settings of the Python host shim, read from environment variables."""

    # Path of the Unix socket to listen on. If it is None, the server listens on `host` and `port`.
    socket: str | None
    host: str
    port: int
    # The token required on reserved paths. If it is None, these paths require no token.
    control_token: str | None
    # The session id for a start request that contains none.
    session_id: str | None
    # URL from which the list of ICE servers is fetched for every offer.
    ice_config_url: str | None
    # ICE servers as JSON, used if `ice_config_url` is None or cannot be fetched.
    ice_servers: str | None
    log_level: str
    # Whether the session's conversation level, instead of the user, decides about log lines below INFO.
    limits_session_log: bool
    image_version: str | None
    # Whether the process exits after the first session.
    one_shot: bool
    # Seconds that a WebRTC session waits for its client.
    offer_seconds: float
    # Maximum seconds that the process waits for its session after SIGTERM. None means no limit.
    drain_seconds: float | None
    # Path of the file to which the conversation of each session is appended. None means that none is recorded.
    conversation_file: str | None
    # Path of the empty file for the recording of a session. None means that none is made.
    recording_file: str | None


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings from an environment.

    Raises InvalidSettingError for an invalid port. An invalid number of seconds counts as unset.
    """
    return Settings(
        socket=environment.get("BOT_SOCKET") or None,
        host=environment.get("BOT_HOST") or "0.0.0.0",  # noqa: S104 for containers
        port=_port(environment.get("PORT") or "8080"),
        control_token=environment.get("BOT_CONTROL_TOKEN") or None,
        session_id=environment.get("BOT_SESSION_ID") or None,
        ice_config_url=environment.get("ICE_CONFIG_URL") or None,
        ice_servers=environment.get("PIPECAT_ICE_SERVERS") or None,
        log_level=read_log_level(environment),
        limits_session_log=_limits_session_log(environment),
        image_version=environment.get("IMAGE_VERSION") or None,
        one_shot=environment.get("BOT_ONE_SHOT") == "1",
        offer_seconds=_positive(environment.get("BOT_CONNECTION_TIMEOUT")) or 120.0,
        drain_seconds=_positive(environment.get("SHUTDOWN_TIMEOUT")),
        conversation_file=environment.get("BOTHOST_CONVERSATION_FILE") or None,
        recording_file=environment.get("BOTHOST_RECORDING_FILE") or None,
    )


def read_log_level(environment: Mapping[str, str]) -> str:
    """Return the lowest level of the log lines of a bot."""
    # A session of this instance may keep text although the environment does not say so, because the level of the agent
    # has changed since the start. `limit_session_log` then decides.
    return "DEBUG" if _limits_session_log(environment) else (environment.get("PIPECAT_LOG_LEVEL") or "DEBUG").upper()


def read_session_log_level(environment: Mapping[str, str], *, keeps_text: bool) -> str:
    """Return the lowest level of the log lines of a session, whose conversation level keeps text or not."""
    return "INFO" if _limits_session_log(environment) and not keeps_text else read_log_level(environment)


def _limits_session_log(environment: Mapping[str, str]) -> bool:
    return environment.get("BOTHOST_LIMIT_SESSION_LOG") == "1"


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
    # Reject NaN and values that a timer cannot represent.
    return number if 0 < number <= 2_000_000 else None
