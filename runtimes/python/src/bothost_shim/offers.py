"""SmallWebRTC signalling, one connection at a time (bot contract 5)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .http_exchange import HttpError
from .log_lines import logger
from .session import Session


def can_negotiate() -> bool:
    """Answer whether the bot's environment has what WebRTC needs, without importing it."""
    return find_spec("pipecat") is not None and find_spec("aiortc") is not None


def _import_pipecat() -> tuple[Any, Any]:
    module = "pipecat.transports.smallwebrtc"
    return import_module(f"{module}.request_handler"), import_module(f"{module}.connection")


class OfferDesk:
    """Takes the offers of the session that waits for them."""

    def __init__(self) -> None:
        """Wait for nothing."""
        self._session: Session | None = None
        self._connected: asyncio.Future[Any] | None = None
        self._modules: asyncio.Future[tuple[Any, Any]] | None = None
        self._handler: Any = None
        # A client that asks again while its first offer is answered must not get a second connection.
        self._one_at_a_time = asyncio.Lock()
        self._waiting = asyncio.Event()

    @asynccontextmanager
    async def session(self, session: Session) -> AsyncIterator["asyncio.Future[Any]"]:
        """Take offers for a session. Yields a future of its connection and of what the offer says to the bot."""
        self._session, self._connected = session, asyncio.get_running_loop().create_future()
        # The client is on its way: what takes half a second is imported meanwhile, on a thread of its own.
        self._modules = asyncio.ensure_future(asyncio.to_thread(_import_pipecat))
        self._waiting.set()
        try:
            yield self._connected
        finally:
            self._session = None
            self._waiting.clear()
            handler, self._handler = self._handler, None
            if handler is not None:
                await _close(handler)

    async def current(self, patience: float) -> Session | None:
        """Answer the session that takes offers, waiting up to so many seconds: its start may be a moment behind."""
        try:
            await asyncio.wait_for(self._waiting.wait(), patience)
        except TimeoutError:
            return None
        return self._session

    async def offer(self, request: dict[str, Any], ice_servers: list[dict[str, Any]]) -> dict[str, Any]:
        """Answer an offer. Raises HttpError 400 for what is none, and what Pipecat's handler refuses."""
        if not _is_offer(request):
            raise HttpError(400, "This is not a WebRTC offer")
        async with self._one_at_a_time:
            request_handler, connection = await self._ready_modules()
            if self._handler is None:
                single = request_handler.ConnectionMode.SINGLE
                self._handler = request_handler.SmallWebRTCRequestHandler(connection_mode=single)
            self._handler.update_ice_servers([connection.IceServer(**server) for server in ice_servers])
            wanted = ("sdp", "type", "pc_id", "restart_pc")
            fields = {name: request[name] for name in wanted if name in request}
            request_data = request.get("requestData") or request.get("request_data")
            try:
                offer = request_handler.SmallWebRTCRequest(**fields, request_data=request_data)

                async def connect(connection: Any) -> None:
                    if self._connected is not None and not self._connected.done():
                        self._connected.set_result((connection, request_data))

                answer: dict[str, Any] = await self._handler.handle_web_request(offer, connect)
            except Exception as error:
                raise _refusal(error) from error
            return answer

    async def add_candidates(self, request: dict[str, Any]) -> None:
        """Add candidates of the client's. Raises HttpError 400, and 404 for an unknown connection."""
        if self._handler is None:
            raise HttpError(404, "There is no such connection")
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
            raise _refusal(error) from error

    async def _ready_modules(self) -> tuple[Any, Any]:
        if self._modules is None:
            raise HttpError(404, "No session waits for an offer")
        return await asyncio.shield(self._modules)


def _is_offer(request: dict[str, Any]) -> bool:
    """Answer whether it names media: aiortc takes any other text too, and answers it."""
    sdp = request.get("sdp")
    return request.get("type") == "offer" and isinstance(sdp, str) and "m=" in sdp


def _refusal(error: Exception) -> HttpError:
    status, detail = getattr(error, "status_code", None), getattr(error, "detail", None)
    if isinstance(status, int) and isinstance(detail, str):
        return HttpError(status, detail)
    logger.warning("A WebRTC request could not be used: %s", error)
    return HttpError(400, "This is not a WebRTC request that can be used")


async def _close(handler: Any) -> None:
    try:
        await handler.close()
    except Exception:
        logger.exception("The WebRTC connection could not be closed")
