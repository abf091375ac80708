"""Talks to a bot as a browser does: python webrtc_call.py URL_OF_OFFER. Prints what was heard as JSON."""

import asyncio
import json
import sys
import urllib.request

import numpy as np
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError

# Seconds of sound that are enough, and those to wait for it.
ENOUGH, PATIENCE = 1.5, 30


async def main(url: str) -> None:
    """Offer, take the answer, say that the client is ready, and listen."""
    peer = RTCPeerConnection()
    channel = peer.createDataChannel("rtvi", ordered=True)
    heard: list[np.ndarray] = []
    messages: list[str] = []
    enough = asyncio.Event()

    @channel.on("open")
    def on_open() -> None:
        about = {"library": "test", "library_version": "1"}
        ready = {"version": "2.0.0", "about": about}
        message = {"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": ready}
        channel.send(json.dumps(message))

    @channel.on("message")
    def on_message(message: str) -> None:
        if message.startswith("{"):
            messages.append(json.loads(message).get("type", ""))

    @peer.on("track")
    def on_track(track) -> None:
        async def listen() -> None:
            while True:
                try:
                    frame = await track.recv()
                except MediaStreamError:
                    return
                sound = frame.to_ndarray().reshape(-1, len(frame.layout.channels))[:, 0]
                if np.abs(sound).max() > 1000:
                    heard.append(sound)
                if sum(map(len, heard)) / frame.sample_rate > ENOUGH:
                    enough.rate = frame.sample_rate
                    enough.set()

        asyncio.ensure_future(listen())

    peer.addTrack(AudioStreamTrack())
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
    answer = await asyncio.to_thread(post, url, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
    await asyncio.wait_for(enough.wait(), PATIENCE)
    sound = np.concatenate(heard).astype(float)
    crossings = int(np.count_nonzero(np.diff(np.signbit(sound))))
    pitch = crossings * enough.rate / (2 * len(sound))
    await peer.close()
    print(json.dumps({"pitch": pitch, "messages": messages}))


def post(url: str, body: object) -> dict:
    """Send JSON, answer JSON."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


asyncio.run(main(sys.argv[1]))
