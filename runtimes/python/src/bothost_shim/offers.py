"""SmallWebRTC signaling, one connection at a time (docs/bot-contract.md, "WebRTC")."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .http_exchange import HttpError
from .log_lines import logger
from .session import Session


def supports_webrtc() -> bool:
    """Return whether the bot's environment has the packages for WebRTC, without importing them."""
    return find_spec("pipecat") is not None and find_spec("aiortc") is not None


def _import_pipecat() -> tuple[Any, Any]:
    module = "pipecat.transports.smallwebrtc"
    return import_module(f"{module}.request_handler"), import_module(f"{module}.connection")


class WebRtcOfferAcceptor:
    """Accepts WebRTC offers for the session that waits for a client."""

    def __init__(self) -> None:
        """Create an acceptor of WebRTC offers. It has no session until the context `session` is entered."""
        self._session: Session | None = None
        self._connected: asyncio.Future[Any] | None = None
        self._modules: asyncio.Future[tuple[Any, Any]] | None = None
        self._handler: Any = None
        # Handle one offer at a time, because a client that repeats its offer must not get a second connection.
        self._one_at_a_time = asyncio.Lock()
        self._waiting = asyncio.Event()

    @asynccontextmanager
    async def session(self, session: Session) -> AsyncIterator["asyncio.Future[Any]"]:
        """Accept WebRTC offers for a session while the context is open.

        Yields a future. Its result is the connection and the request data of the offer.
        """
        self._session, self._connected = session, asyncio.get_running_loop().create_future()
        self._waiting.set()
        try:
            yield self._connected
        finally:
            self._session = None
            self._waiting.clear()
            handler, self._handler = self._handler, None
            if handler is not None:
                await _close(handler)

    def prepare(self) -> "asyncio.Future[tuple[Any, Any]]":
        """Start to import Pipecat in a thread before the first offer, because the import takes half a second."""
        if self._modules is None:
            self._modules = asyncio.ensure_future(asyncio.to_thread(_import_pipecat))
        return self._modules

    async def current(self, patience: float) -> Session | None:
        """Return the session that accepts offers, or None if there is none within `patience` seconds.

        An offer may arrive before the start of its session.
        """
        try:
            await asyncio.wait_for(self._waiting.wait(), patience)
        except TimeoutError:
            return None
        return self._session

    async def offer(self, request: dict[str, Any], ice_servers: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the SDP answer to an offer. Raises HttpError 400, and the errors of Pipecat's handler."""
        if not _is_offer(request):
            raise HttpError(400, "The body is not a WebRTC offer")
        async with self._one_at_a_time:
            request_handler, connection = await self._ready_modules()
            if self._handler is None:
                single = request_handler.ConnectionMode.SINGLE
                self._handler = request_handler.SmallWebRTCRequestHandler(connection_mode=single)
            self._handler.update_ice_servers([connection.IceServer(**server) for server in ice_servers])
            names = ("sdp", "type", "pc_id", "restart_pc")
            fields = {name: request[name] for name in names if name in request}
            request_data = request.get("requestData") or request.get("request_data")
            try:
                offer = request_handler.SmallWebRTCRequest(**fields, request_data=request_data)

                async def connect(connection: Any) -> None:
                    if self._connected is not None and not self._connected.done():
                        if self._session is not None:
                            _observe_start(connection, self._session)
                        self._connected.set_result((connection, request_data))

                answer: dict[str, Any] = await self._handler.handle_web_request(offer, connect)
            except Exception as error:
                raise _http_error(error) from error
            return answer

    async def add_candidates(self, request: dict[str, Any]) -> None:
        """Add ICE candidates of the client. Raises HttpError 400, or 404 if the connection is unknown."""
        if self._handler is None:
            raise HttpError(404, "The connection does not exist")
        request_handler, _ = await self._ready_modules()
        try:
            candidates = [
                request_handler.IceCandidate(
                    candidate=candidate["candidate"],
                    sdp_mid=candidate.get("sdp_mid"),
                    sdp_mline_index=candidate.get("sdp_mline_index"),
                )
                for candidate in request.get("candidates", [])
            ]
            patch = request_handler.SmallWebRTCPatchRequest(pc_id=request["pc_id"], candidates=candidates)
            await self._handler.handle_patch_request(patch)
        except Exception as error:
            raise _http_error(error) from error

    async def _ready_modules(self) -> tuple[Any, Any]:
        return await asyncio.shield(self.prepare())


def _observe_start(connection: Any, session: Session) -> None:
    """Record when the client connects and disconnects, and when the bot sends the first audio track or message."""

    async def connected(_connection: Any) -> None:
        session.reach("transportConnectedAt")

    async def disconnected(_connection: Any) -> None:
        session.note_client_disconnected()

    connection.add_event_handler("connected", connected)
    for event in ("disconnected", "closed"):
        connection.add_event_handler(event, disconnected)
    for name in ("replace_audio_track", "send_app_message"):
        setattr(connection, name, _observe_first_frame(getattr(connection, name), session))


def _observe_first_frame(send: Callable[[Any], Any], session: Session) -> Callable[[Any], Any]:
    def observed_send(sent: Any) -> Any:
        if sent is not None:
            session.reach("firstFrameAt")
        return send(sent)

    return observed_send


def _is_offer(request: dict[str, Any]) -> bool:
    """Return whether a request is a WebRTC offer with media. aiortc itself would accept any text."""
    sdp = request.get("sdp")
    return request.get("type") == "offer" and isinstance(sdp, str) and "m=" in sdp


def _http_error(error: Exception) -> HttpError:
    status, detail = getattr(error, "status_code", None), getattr(error, "detail", None)
    if isinstance(status, int) and isinstance(detail, str):
        return HttpError(status, detail)
    logger.warning("WebRTC request failed: %s", error)
    return HttpError(400, "The WebRTC request is not valid")


async def _close(handler: Any) -> None:
    try:
        await handler.close()
    except Exception:
        logger.exception("The WebRTC connection could not be closed")
