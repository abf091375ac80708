"""The ICE servers of a peer connection. There is no fallback to public servers."""

import asyncio
import json
import os
from typing import Any

from .asgi import Scope, get_first_header
from .log_lines import logger
from .settings import Settings

IceServers = list[dict[str, Any]]

_SECONDS = 2.0
_BYTES = 65_536


def take_ice_servers(scope: Scope) -> IceServers | None:
    """Return the ICE servers that the service sends with a session, and set PIPECAT_ICE_SERVERS for the bot.

    None if the service sends none.
    """
    text = get_first_header(scope, "bothost-ice-servers")
    if text is None:
        return None
    servers = _parse(text, "bothost-ice-servers")
    os.environ["PIPECAT_ICE_SERVERS"] = json.dumps(servers)
    return servers


async def fetch_ice_servers(settings: Settings) -> IceServers:
    """Fetch the ICE servers from the service. If that fails, use PIPECAT_ICE_SERVERS."""
    if settings.ice_config_url is not None:
        try:
            text = await asyncio.wait_for(asyncio.to_thread(_fetch, settings.ice_config_url), _SECONDS)
            return _valid(json.loads(text)["iceConfig"]["iceServers"])
        except Exception as error:
            # Log neither the URL nor the response, because both may contain credentials.
            logger.warning("The ICE servers could not be fetched: %s", type(error).__name__)
    return _parse(settings.ice_servers or "[]", "PIPECAT_ICE_SERVERS")


def _parse(text: str, source: str) -> IceServers:
    try:
        return _valid(json.loads(text))
    except ValueError:
        logger.warning("%s was ignored, because it is not a JSON list of ICE servers", source)
        return []


def _fetch(url: str) -> bytes:
    from urllib.request import ProxyHandler, build_opener

    if not url.startswith(("http://", "https://")):
        raise ValueError("the URL is not an HTTP URL")
    # Use no proxy, because the service is on the same machine or network.
    with build_opener(ProxyHandler({})).open(url, timeout=_SECONDS) as response:
        content: bytes = response.read(_BYTES)
    return content


def _valid(servers: Any) -> IceServers:
    if not isinstance(servers, list):
        raise ValueError("the ICE servers are not a list")
    return [_server(entry) for entry in servers]


def _server(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("urls"), str | list):
        raise ValueError("an ICE server lacks its URLs")
    # Keep only the fields that a peer connection accepts.
    return {name: entry[name] for name in ("urls", "username", "credential") if entry.get(name) is not None}
