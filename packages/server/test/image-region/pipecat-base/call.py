"""Calls a WebRTC bot: python call.py URL_OF_OFFER TOKEN. Prints how many audio frames came, and the echo of a message."""

import asyncio
import json
import sys
import urllib.request

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack

FRAMES = 50


async def call(url, token):
    """Connect, receive one second of audio and one message, and hang up."""
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    channel = peer.createDataChannel("messages")
    echo = asyncio.get_running_loop().create_future()
    heard = asyncio.get_running_loop().create_future()
    channel.on("open", lambda: channel.send("hello"))
    channel.on("message", echo.set_result)

    @peer.on("track")
    async def on_track(track):
        for _ in range(FRAMES):
            await track.recv()
        heard.set_result(FRAMES)

    peer.addTrack(AudioStreamTrack())
    await peer.setLocalDescription(await peer.createOffer())
    offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
    answer = await asyncio.to_thread(post, url, token, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
    print(json.dumps({"echo": await echo, "frames": await heard}))
    await peer.close()


def post(url, token, body):
    """Post JSON and return the JSON of the response."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as response:
        return json.load(response)


asyncio.run(asyncio.wait_for(call(*sys.argv[1:]), 30))
