"""Calls a bot like a browser: python webrtc_call.py URL_OF_OFFER [TEXT...].

Sends video, listens to the greeting, sends each TEXT and listens to its answer, and prints what it heard as JSON.
"""

import asyncio
import json
import sys
import urllib.request

import numpy as np
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError, VideoStreamTrack

# Maximum time in seconds for one utterance of the bot.
UTTERANCE_TIMEOUT_SECONDS = 60


async def call_bot(url: str, texts: list[str]) -> None:
    """Send a WebRTC offer, accept the answer, report that the client is ready, and listen."""
    peer = RTCPeerConnection()
    channel = peer.createDataChannel("rtvi", ordered=True)
    heard: list[np.ndarray] = []
    rates: set[int] = set()
    messages: list[str] = []
    over = asyncio.Event()

    def say(kind: str, data: object) -> None:
        channel.send(json.dumps({"label": "rtvi-ai", "type": kind, "id": kind, "data": data}))

    @channel.on("open")
    def on_open() -> None:
        about = {"library": "test", "library_version": "1"}
        say("client-ready", {"version": "2.0.0", "about": about})

    @channel.on("message")
    def on_message(text: str) -> None:
        if not text.startswith("{"):
            return
        kind = json.loads(text).get("type", "")
        messages.append(kind)
        if kind != "bot-stopped-speaking":
            return
        if texts:
            options = {"run_immediately": True, "audio_response": True}
            say("send-text", {"content": texts.pop(0), "options": options})
        else:
            over.set()

    @peer.on("track")
    def on_track(track) -> None:
        async def listen() -> None:
            while track.kind == "audio":
                try:
                    frame = await track.recv()
                except MediaStreamError:
                    return
                rates.add(frame.sample_rate)
                sound = frame.to_ndarray().reshape(-1, len(frame.layout.channels))[:, 0]
                if np.abs(sound).max() > 1000:
                    heard.append(sound)

        asyncio.ensure_future(listen())

    peer.addTrack(AudioStreamTrack())
    peer.addTrack(VideoStreamTrack())
    await peer.setLocalDescription(await peer.createOffer())
    offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
    answer = await asyncio.to_thread(post_json, url, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
    await asyncio.wait_for(over.wait(), UTTERANCE_TIMEOUT_SECONDS)
    sound = np.concatenate(heard).astype(float)
    (rate,) = rates
    # The pitch is the strongest frequency. Counting zero crossings would be wrong, because a busy machine drops audio
    # and each gap adds crossings.
    pitch = float(np.abs(np.fft.rfft(sound)).argmax()) * rate / len(sound)
    found = {"seconds": len(sound) / rate, "pitch": pitch}
    await peer.close()
    print(json.dumps({**found, "messages": messages}))


def post_json(url: str, body: object) -> dict:
    """Post JSON and return the JSON response."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


asyncio.run(call_bot(sys.argv[1], sys.argv[2:]))
