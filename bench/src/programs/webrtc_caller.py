"""Calls bots over WebRTC like a browser, one call for each line of standard input.

A line is a JSON object: `start` is the URL that starts a session, `offer` is the URL for the WebRTC offer with
`SESSION_ID` in place of the session's id, and `headers` are the HTTP headers of both requests. For each call, prints a
JSON object in one line: `connectedMs` and `firstAudioMs` (milliseconds since the start request), or `error`.
"""

import asyncio
import json
import sys
import time

import aiohttp
import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError

FIRST_AUDIO_TIMEOUT_SECONDS = 30
# Samples above this amplitude are speech.
AUDIBLE_AMPLITUDE = 1000


async def call_bot(http: aiohttp.ClientSession, call: dict) -> dict:
    """Start a session, connect, listen for the first audio, and hang up."""
    begin = time.perf_counter()
    times: dict[str, float] = {}
    heard = asyncio.Event()

    def note(name: str) -> None:
        times.setdefault(name, (time.perf_counter() - begin) * 1000)

    async def post(url: str, body: dict) -> dict:
        async with http.post(url, json=body, headers=call["headers"]) as response:
            response.raise_for_status()
            return await response.json()

    started = await post(call["start"], {"transport": "webrtc"})
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    channel = peer.createDataChannel("rtvi", ordered=True)

    @channel.on("open")
    def on_open() -> None:
        about = {"library": "bench", "library_version": "1"}
        ready = {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": {"version": "2.0.0", "about": about}}
        channel.send(json.dumps(ready))

    @peer.on("connectionstatechange")
    def on_state() -> None:
        if peer.connectionState == "connected":
            note("connectedMs")

    @peer.on("track")
    def on_track(track) -> None:
        async def listen() -> None:
            while track.kind == "audio" and not heard.is_set():
                try:
                    frame = await track.recv()
                except MediaStreamError:
                    return
                if np.abs(frame.to_ndarray()).max() > AUDIBLE_AMPLITUDE:
                    note("firstAudioMs")
                    heard.set()

        asyncio.ensure_future(listen())

    try:
        peer.addTrack(AudioStreamTrack())
        await peer.setLocalDescription(await peer.createOffer())
        offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
        answer = await post(call["offer"].replace("SESSION_ID", started["sessionId"]), offer)
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
        await asyncio.wait_for(heard.wait(), FIRST_AUDIO_TIMEOUT_SECONDS)
    finally:
        await peer.close()
    return times


async def main() -> None:
    """Make a call for each line of standard input, until it ends."""
    async with aiohttp.ClientSession() as http:
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                result = await call_bot(http, json.loads(line))
            except Exception as error:  # noqa: BLE001: a call may fail in any way
                result = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(result), flush=True)


asyncio.run(main())
