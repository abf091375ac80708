"""Talks to a bot: python spoken_call.py QUESTION REPEATS webrtc URL_OF_OFFER, or ... livekit URL TOKEN
[TOKEN_OF_LISTENER].

QUESTION is Base64-encoded mu-law at 8000 Hz, as say.py prints it. Waits for the greeting, asks the question several
times, and listens to each answer. Prints JSON: when the last sound of each question was sent and the first sound of its
answer was heard, in Unix milliseconds, the pitch of the bot in hertz, and how many seconds of the bot the listener heard.
"""

import asyncio
import base64
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from fractions import Fraction
from urllib.request import Request, urlopen

import numpy as np
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import AudioFrame
from livekit import rtc

RATE = 48_000
# 20 ms.
FRAME = RATE // 50
# The amplitude of sound, as in phone-call.ts, and the seconds of silence after an utterance.
AMPLITUDE = 1000
PAUSE_SECONDS = 0.8
TIMEOUT_SECONDS = 60
READY = {
    "label": "rtvi-ai",
    "type": "client-ready",
    "id": "1",
    "data": {"version": "2.0.0", "about": {"library": "test", "library_version": "1"}},
}


class Caller:
    """The voice and the ears of a participant."""

    def __init__(self) -> None:
        self._unsaid = np.zeros(0, np.int16)
        self._spoke_at = 0.0
        self._has_spoken = asyncio.Event()
        self._hears = asyncio.Event()
        self._bot_stopped = asyncio.Event()
        self.heard: list[np.ndarray] = []
        self.is_ready = asyncio.Event()

    def next_frame(self) -> np.ndarray:
        """Return the next 20 ms of the microphone."""
        frame = np.zeros(FRAME, np.int16)
        part, self._unsaid = self._unsaid[:FRAME], self._unsaid[FRAME:]
        frame[: len(part)] = part
        if np.abs(frame.astype(int)).max() > AMPLITUDE:
            self._spoke_at = time.monotonic()
        if len(self._unsaid) == 0:
            self._has_spoken.set()
        return frame

    def hear(self, samples: np.ndarray) -> None:
        """Take samples of the bot."""
        if np.abs(samples.astype(int)).max() > AMPLITUDE:
            self.heard.append(samples)
            self._hears.set()

    def read(self, message: str) -> None:
        """Take a message of the bot."""
        kind = json.loads(message).get("type") if message.startswith("{") else None
        if kind == "bot-ready":
            self.is_ready.set()
        elif kind == "bot-stopped-speaking":
            self._bot_stopped.set()

    async def listen(self) -> float:
        """Wait until the bot has said something. Return when it began."""
        self._hears.clear()
        self._bot_stopped.clear()
        await asyncio.wait_for(self._hears.wait(), TIMEOUT_SECONDS)
        began_at = time.monotonic()
        await asyncio.wait_for(self._bot_stopped.wait(), TIMEOUT_SECONDS)
        while True:
            self._hears.clear()
            try:
                await asyncio.wait_for(self._hears.wait(), PAUSE_SECONDS)
            except TimeoutError:
                return began_at

    async def ask(self, question: np.ndarray) -> dict[str, float]:
        """Return when the question ended and when its answer began, in Unix milliseconds."""
        self._unsaid = question
        self._has_spoken.clear()
        await self._has_spoken.wait()
        began_at = await self.listen()
        offset = time.time() - time.monotonic()
        return {"askedAt": 1000 * (self._spoke_at + offset), "answeredAt": 1000 * (began_at + offset)}


async def pace() -> AsyncIterator[int]:
    """Yield the number of each frame when it is due."""
    started = time.monotonic()
    number = 0
    while True:
        await asyncio.sleep(max(0.0, started + number * FRAME / RATE - time.monotonic()))
        yield number
        number += 1


class Microphone(MediaStreamTrack):
    """The caller's voice as a track of aiortc."""

    kind = "audio"

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller, self._clock = caller, pace()

    async def recv(self) -> AudioFrame:
        number = await anext(self._clock)
        frame = AudioFrame.from_ndarray(self._caller.next_frame().reshape(1, -1), layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, number * FRAME, Fraction(1, RATE)
        return frame


@asynccontextmanager
async def join_by_webrtc(caller: Caller, url: str) -> AsyncIterator[None]:
    """Connect to a bot by SmallWebRTC."""
    peer = RTCPeerConnection()
    channel = peer.createDataChannel("rtvi", ordered=True)
    channel.on("open", lambda: channel.send(json.dumps(READY)))
    channel.on("message", caller.read)
    listening = []

    async def listen(track: MediaStreamTrack) -> None:
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            caller.hear(frame.to_ndarray().reshape(-1, len(frame.layout.channels))[:, 0])

    @peer.on("track")
    def on_track(track: MediaStreamTrack) -> None:
        if track.kind == "audio":
            listening.append(asyncio.ensure_future(listen(track)))

    peer.addTrack(Microphone(caller))
    await peer.setLocalDescription(await peer.createOffer())
    offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
    answer = await asyncio.to_thread(post_json, url, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
    yield
    await peer.close()


def post_json(url: str, body: object) -> dict:
    """Post JSON and return the JSON response."""
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as response:
        return json.load(response)


@asynccontextmanager
async def join_by_livekit(caller: Caller, url: str, token: str, *, speaks: bool = True) -> AsyncIterator[None]:
    """Join a room of LiveKit."""
    room = rtc.Room()
    tasks = []

    async def listen(track: rtc.Track) -> None:
        async for event in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
            caller.hear(np.frombuffer(event.frame.data, np.int16))

    async def speak(source: rtc.AudioSource) -> None:
        async for _ in pace():
            for part in np.split(caller.next_frame(), 2):
                await source.capture_frame(rtc.AudioFrame(part.tobytes(), RATE, 1, len(part)))

    async def greet() -> None:
        # A bot that has joined the room drops messages until its pipeline runs.
        while not caller.is_ready.is_set():
            if room.remote_participants:
                await room.local_participant.publish_data(json.dumps(READY))
            await asyncio.wait([asyncio.ensure_future(caller.is_ready.wait())], timeout=2)

    @room.on("track_subscribed")
    def on_track(track: rtc.Track, _publication: object, _participant: object) -> None:
        if track.kind == rtc.TrackKind.KIND_AUDIO:
            tasks.append(asyncio.ensure_future(listen(track)))

    room.on("data_received", lambda packet: caller.read(packet.data.decode()))
    await room.connect(url, token)
    if speaks:
        # Without a queue, which would keep what gathers in it while the machine is busy, and delay all that follows. LiveKit
        # then takes frames of 10 ms only.
        source = rtc.AudioSource(RATE, 1, queue_size_ms=0)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", source)
        options = rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE)
        await room.local_participant.publish_track(track, options)
        tasks += [asyncio.ensure_future(speak(source)), asyncio.ensure_future(greet())]
    yield
    for task in tasks:
        task.cancel()
    await room.disconnect()


def decode_mu_law(text: str) -> np.ndarray:
    """Return 16-bit samples of Base64-encoded mu-law (ITU-T G.711)."""
    codes = ~np.frombuffer(base64.b64decode(text), np.uint8)
    magnitudes = (((codes & 0x0F).astype(int) << 3) + 0x84 << ((codes >> 4) & 7)) - 0x84
    return np.where(codes & 0x80, -magnitudes, magnitudes).astype(np.int16)


async def main(question: str, repeats: int, transport: str, url: str, *tokens: str) -> None:
    """Run one call."""
    caller, listener = Caller(), Caller()
    narrow = decode_mu_law(question)
    times = np.arange(0, len(narrow), 8000 / RATE)
    sound = np.interp(times, np.arange(len(narrow)), narrow).astype(np.int16)
    async with AsyncExitStack() as stack:
        for token in tokens[1:]:
            await stack.enter_async_context(join_by_livekit(listener, url, token, speaks=False))
        call = join_by_webrtc(caller, url) if transport == "webrtc" else join_by_livekit(caller, url, tokens[0])
        await stack.enter_async_context(call)
        await caller.listen()
        questions = [await caller.ask(sound) for _ in range(repeats)]
    heard = np.concatenate(caller.heard).astype(float)
    pitch = float(np.abs(np.fft.rfft(heard)).argmax()) * RATE / len(heard)
    overheard = sum(map(len, listener.heard)) / RATE
    print(json.dumps({"questions": questions, "pitch": pitch, "overheardSeconds": overheard}))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:]))
