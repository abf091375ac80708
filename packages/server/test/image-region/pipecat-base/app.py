"""Stands in for the program of Pipecat Cloud's base image.

Like it: no status route, `POST /bot` open for the whole session, status 200 after an exception, and a server that waits for its
session after SIGTERM. The process does not exit after a session.
"""

import asyncio
import base64
import json
import os
import traceback
import urllib.request
from types import SimpleNamespace

import uvicorn
from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack
from bot import bot
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketState

webrtc_ended = asyncio.Event()


async def run_bot(request, **arguments):
    try:
        await bot(SimpleNamespace(session_id=request.headers["x-daily-session-id"], **arguments))
    except Exception:
        traceback.print_exc()


async def start(request):
    if request.headers.get("x-daily-transport-type") == "webrtc":
        await asyncio.wait_for(webrtc_ended.wait(), 120)
    else:
        await run_bot(request, body=await request.json())
    return JSONResponse({})


async def connect(websocket):
    await websocket.accept()
    body = json.loads(base64.b64decode(websocket.query_params.get("body", "e30=")))
    await run_bot(websocket, body=body, websocket=websocket)
    if websocket.client_state == WebSocketState.CONNECTED:
        await websocket.close()


def fetch_ice_servers():
    if "ICE_CONFIG_URL" not in os.environ:
        return []
    with urllib.request.urlopen(os.environ["ICE_CONFIG_URL"]) as response:
        return [RTCIceServer(**server) for server in json.load(response)["iceConfig"]["iceServers"]]


async def offer(request):
    body = await request.json()
    peer = RTCPeerConnection(RTCConfiguration(iceServers=await asyncio.to_thread(fetch_ice_servers)))

    async def run():
        await run_bot(request, webrtc_connection=peer)
        await peer.close()
        webrtc_ended.set()

    peer.addTrack(AudioStreamTrack())
    await peer.setRemoteDescription(RTCSessionDescription(body["sdp"], body["type"]))
    await peer.setLocalDescription(await peer.createAnswer())
    answer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type, "pc_id": "1"}
    return JSONResponse(answer, background=BackgroundTask(run))


async def ready(_request):
    return JSONResponse({"status": "ok"})


class WaitingServer(uvicorn.Server):
    async def shutdown(self, sockets=None):
        for server in self.servers:
            server.close()
        while self.server_state.connections or self.server_state.tasks:
            await asyncio.sleep(0.1)
        await self.lifespan.shutdown()


routes = [
    Route("/bot", start, methods=["POST"]),
    WebSocketRoute("/ws", connect),
    Route("/api/offer", offer, methods=["POST"]),
    Route("/readyz", ready),
]
port = int(os.environ.get("PORT", "8080"))
WaitingServer(uvicorn.Config(Starlette(routes=routes), host="0.0.0.0", port=port)).run()
