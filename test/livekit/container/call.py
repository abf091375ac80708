"""Joins a room of LiveKit, and sends a tone until a second of it came back: python call.py URL TOKEN.

Prints the frequency of what came back, in hertz.
"""

import asyncio
import sys

import numpy as np
from livekit import rtc

RATE = 16_000
# 20 ms.
FRAME = RATE // 50
TONE_HERTZ = 440
AUDIBLE = 1000


async def speak(source: rtc.AudioSource) -> None:
    """Send the tone without end. The source sets the pace."""
    number = 0
    while True:
        times = (np.arange(FRAME) + number * FRAME) / RATE
        tone = (10_000 * np.sin(2 * np.pi * TONE_HERTZ * times)).astype(np.int16)
        await source.capture_frame(rtc.AudioFrame(tone.tobytes(), RATE, 1, FRAME))
        number += 1


async def listen(track: rtc.Track) -> np.ndarray:
    """Return the first second of sound."""
    heard = np.zeros(0, np.int16)
    async for event in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
        samples = np.frombuffer(event.frame.data, np.int16)
        if np.abs(samples.astype(int)).max() > AUDIBLE:
            heard = np.concatenate([heard, samples])
        if len(heard) >= RATE:
            break
    return heard


async def main(url: str, token: str) -> None:
    """Run one call."""
    room = rtc.Room()
    subscribed = asyncio.get_running_loop().create_future()
    room.on("track_subscribed", lambda track, *_: subscribed.set_result(track))
    await room.connect(url, token)
    source = rtc.AudioSource(RATE, 1)
    await room.local_participant.publish_track(rtc.LocalAudioTrack.create_audio_track("tone", source))
    speaking = asyncio.ensure_future(speak(source))
    heard = await listen(await subscribed)
    speaking.cancel()
    await room.disconnect()
    print(np.abs(np.fft.rfft(heard)).argmax() * RATE / len(heard))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 60))
