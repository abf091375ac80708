"""Calls bots over WebRTC like a browser, one call for each line of standard input.

A line is a JSON object: `start` is the URL that starts a session, `offer` is the URL for the WebRTC offer with
`SESSION_ID` in place of the session's id, and `headers` are the HTTP headers of both requests. `question` is speech as
Base64 of 16-bit samples at 8000 Hz, which is asked `count` times (default 0). For each call, prints a JSON object in one
line: `connectedMs` and `firstAudioMs` (milliseconds since the start request), `responsesMs` (from the end of each
question to the first audio of its answer) and `longestPauseMs` (between two received packets of audio), or `error`.
"""

import asyncio
import base64
import json
import sys
import time

import aiohttp
import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError

AUDIO_TIMEOUT_SECONDS = 30
# Samples above this amplitude are speech.
AUDIBLE_AMPLITUDE = 1000
# The bot begins to speak if it was silent for this time before.
QUIET_SECONDS = 0.4


class Microphone(AudioStreamTrack):
    """Sends the speech in `unsaid`, and silence otherwise."""

    unsaid = b""
    last_spoken_at = 0.0

    async def recv(self):
        """Return the next 20 ms, at 8000 Hz."""
        frame = await super().recv()
        plane = frame.planes[0]
        if self.unsaid:
            plane.update(self.unsaid[: plane.buffer_size].ljust(plane.buffer_size, b"\0"))
            self.unsaid = self.unsaid[plane.buffer_size :]
            self.last_spoken_at = time.perf_counter()
        return frame


class Listener:
    """Listens to a bot."""

    def __init__(self) -> None:
        self.last_audible_at = -QUIET_SECONDS
        self.longest_pause = 0.0
        self.began = asyncio.Event()

    async def listen(self, track) -> None:
        """Receive audio until the call ends."""
        former = None
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            now = time.perf_counter()
            self.longest_pause = max(self.longest_pause, now - (former or now))
            former = now
            if np.abs(frame.to_ndarray()).max() <= AUDIBLE_AMPLITUDE:
                continue
            if now - self.last_audible_at > QUIET_SECONDS:
                self.began.set()
            self.last_audible_at = now

    async def hear(self) -> float:
        """Wait until the bot begins to speak. Return the time."""
        await asyncio.wait_for(self.began.wait(), AUDIO_TIMEOUT_SECONDS)
        return time.perf_counter()

    async def ask(self, microphone: Microphone, question: bytes) -> float:
        """Ask a question once the bot is silent. Return the milliseconds from its end to the answer."""
        while time.perf_counter() - self.last_audible_at < 2 * QUIET_SECONDS:
            await asyncio.sleep(0.02)
        self.began.clear()
        microphone.unsaid = question
        return (await self.hear() - microphone.last_spoken_at) * 1000


async def call_bot(http: aiohttp.ClientSession, call: dict) -> dict:
    """Start a session, connect, listen for the first audio, ask the questions, and hang up."""
    begin = time.perf_counter()
    connected: list[float] = []
    listener = Listener()
    microphone = Microphone()
    question = base64.b64decode(call.get("question", ""))

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
            connected.append(time.perf_counter())

    @peer.on("track")
    def on_track(track) -> None:
        if track.kind == "audio":
            asyncio.ensure_future(listener.listen(track))

    try:
        peer.addTrack(microphone)
        await peer.setLocalDescription(await peer.createOffer())
        offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
        answer = await post(call["offer"].replace("SESSION_ID", started["sessionId"]), offer)
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
        first_audio = await listener.hear()
        responses = [await listener.ask(microphone, question) for _ in range(call.get("count", 0))]
    finally:
        await peer.close()
    return {
        "connectedMs": (connected[0] - begin) * 1000,
        "firstAudioMs": (first_audio - begin) * 1000,
        "responsesMs": responses,
        "longestPauseMs": listener.longest_pause * 1000,
    }


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
