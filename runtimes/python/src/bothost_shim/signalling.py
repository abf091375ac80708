"""The route `/api/offer`, which handles the signaling of WebRTC clients that the service forwards."""

from .asgi import Receive, Scope, Send
from .control_token import require_matching_session_id
from .host import PythonHost
from .http_exchange import HttpError, parse_json, read_body, send_json
from .ice_servers import fetch_ice_servers
from .offers import supports_webrtc

_BODY_BYTES = 262_144
# Seconds to wait for the session of an offer. The service sends `POST /bot` before the offer, but the offer may arrive
# first, because it uses another connection.
_START_SECONDS = 5.0


async def handle_offer(host: PythonHost, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer an offer (POST) or add ICE candidates (PATCH)."""
    if not supports_webrtc():
        raise HttpError(404, "WebRTC needs pipecat-ai[webrtc] in the bot's environment")
    try:
        request = parse_json(await read_body(receive, _BODY_BYTES))
    except ValueError:
        request = None
    if not isinstance(request, dict):
        raise HttpError(400, "The WebRTC request is not valid")
    session = await host.offers.current(_START_SECONDS)
    if session is None:
        raise HttpError(404, "No session waits for an offer")
    require_matching_session_id(scope, host.settings.control_token, session.id)
    if scope["method"] == "PATCH":
        await host.offers.add_candidates(request)
        await send_json(send, 200, {"status": "success"})
    else:
        servers = session.ice_servers
        if servers is None:
            servers = await fetch_ice_servers(host.settings)
        answer = await host.offers.offer(request, servers)
        await send_json(send, 200, answer)
