"""A bot for the stand-in of the base image. It knows nothing of the service."""

import asyncio
from pathlib import Path

from starlette.websockets import WebSocketDisconnect


async def bot(args):
    """Run a session: until its client leaves, or until the file /app/end exists."""
    Path("/app/session").write_text(args.session_id)
    print(f"session {args.session_id} began", flush=True)
    if hasattr(args, "websocket"):
        await echo(args.websocket)
    elif hasattr(args, "webrtc_connection"):
        await talk(args.webrtc_connection)
    elif args.body.get("fails"):
        raise ValueError("no seeds")
    else:
        while not Path("/app/end").exists():
            await asyncio.sleep(0.05)
    print(f"session {args.session_id} ended", flush=True)


async def echo(websocket):
    try:
        while True:
            await websocket.send_text(await websocket.receive_text())
    except WebSocketDisconnect:
        pass


async def talk(peer):
    closed = asyncio.Event()

    @peer.on("datachannel")
    def on_channel(channel):
        channel.on("message", channel.send)

    @peer.on("connectionstatechange")
    def on_state():
        if peer.connectionState in ("closed", "failed"):
            closed.set()

    await closed.wait()
