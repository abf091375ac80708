"""Calls a WebRTC bot through a TURN server only: python relayed_call.py URL_OF_OFFER TOKEN ICE_SERVERS.

ICE_SERVERS is the JSON list of the start's response. Prints the kinds of the caller's candidates, and how many frames of the
bot's audio arrived.
"""

import asyncio
import json
import sys
import urllib.request

from aiortc import RTCConfiguration, RTCIceServer, RTCIceTransportPolicy, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack

FRAMES = 50


async def call(url, token, ice_servers):
    """Connect, receive one second of audio, and hang up."""
    servers = [RTCIceServer(**server) for server in json.loads(ice_servers)]
    peer = RTCPeerConnection(RTCConfiguration(servers, iceTransportPolicy=RTCIceTransportPolicy.RELAY))
    heard = asyncio.get_running_loop().create_future()

    @peer.on("track")
    async def on_track(track):
        for _ in range(FRAMES):
            await track.recv()
        heard.set_result(FRAMES)

    peer.addTrack(AudioStreamTrack())
    await peer.setLocalDescription(await peer.createOffer())
    offer = {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}
    lines = [line.split() for line in offer["sdp"].splitlines() if line.startswith("a=candidate:")]
    candidates = sorted({words[words.index("typ") + 1] for words in lines})
    answer = await asyncio.to_thread(post, url, token, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
    print(json.dumps({"candidates": candidates, "frames": await heard}))
    await peer.close()


def post(url, token, body):
    """Post JSON and return the JSON of the response."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as response:
        return json.load(response)


asyncio.run(asyncio.wait_for(call(*sys.argv[1:]), 30))
