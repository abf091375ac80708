"""Tests of the recording of a real Pipecat pipeline."""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from pipecat.frames.protobufs import frames_pb2
from running_bot import RunningBot, running_bot, write_bot
from websockets.asyncio.client import ClientConnection, connect

BOT_SOURCE = (Path(__file__).parent / "recording_bot.py").read_text()
PROTOBUF_TYPES: Any = frames_pb2
RATE = 16_000
PACKET = RATE // 50
SILENCE = bytes(2 * PACKET)
# Sounds of a side that are less than this apart, in seconds, are one utterance.
PAUSE_SECONDS = 0.25


class Caller:
    """A client that notes when it sends and receives the first packet of each utterance."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self._heard_at = 0.0
        self._next_at = time.time()
        self.said: list[float] = []
        self.heard: list[float] = []
        self.is_hearing = asyncio.Event()

    async def listen(self) -> None:
        async for data in self._client:
            assert isinstance(data, bytes)
            frame = PROTOBUF_TYPES.Frame.FromString(data)
            if frame.WhichOneof("frame") == "audio" and any(frame.audio.audio):
                now = time.time()
                if now - self._heard_at > PAUSE_SECONDS:
                    self.heard.append(now)
                    self.is_hearing.set()
                self._heard_at = now

    async def wait_until_heard(self, seconds: float) -> None:
        """Wait until the bot has spoken for some seconds, while this side is silent."""
        self.is_hearing.clear()
        while not self.is_hearing.is_set():
            await self.send(SILENCE)
        await self.be_silent(seconds)

    async def say(self, seconds: float) -> None:
        tone = 8_000 * np.sin(2 * np.pi * 600 * np.arange(PACKET) / RATE)
        self.said.append(self._next_at)
        for _ in range(round(seconds * 50)):
            await self.send(tone.astype(np.int16).tobytes())

    async def be_silent(self, seconds: float) -> None:
        for _ in range(round(seconds * 50)):
            await self.send(SILENCE)

    async def pause(self, seconds: float) -> None:
        """Send nothing."""
        await asyncio.sleep(seconds)
        self._next_at = time.time()

    async def send(self, audio: bytes, *, paced: bool = True) -> None:
        """Send a packet when the one before it has ended, as a microphone does."""
        if paced:
            await asyncio.sleep(max(0, self._next_at - time.time()))
            self._next_at += 0.02
        audio_frame = {"audio": audio, "sample_rate": RATE, "num_channels": 1}
        await self._client.send(PROTOBUF_TYPES.Frame(audio=audio_frame).SerializeToString())


async def hold_call(bot: RunningBot, level: str, script: Callable[[Caller], Awaitable[None]]) -> tuple[Caller, float]:
    """Hold a call, and return the caller and the start of the session."""
    headers = {"x-transport-type": "websocket", "bothost-conversation-level": level}
    async with connect(f"ws://127.0.0.1:{bot.port}/ws", additional_headers=headers, proxy=None) as client:
        caller = Caller(client)
        listening = asyncio.create_task(caller.listen())
        await script(caller)
    await listening
    report = await bot.report(wait=20)
    assert report["state"] == "ended"
    return caller, datetime.fromisoformat(report["startedAt"]).timestamp()


async def talk(caller: Caller) -> None:
    """Begin with a burst, send nothing for 2 s, and interrupt the bot."""
    for _ in range(25):
        await caller.send(SILENCE, paced=False)
    await caller.be_silent(1)
    await caller.say(0.4)
    await caller.wait_until_heard(1.8)
    await caller.pause(2)
    await caller.say(0.4)
    await caller.wait_until_heard(0.6)
    await caller.say(0.4)
    await caller.wait_until_heard(1.8)


async def ask_once(caller: Caller) -> None:
    await caller.say(0.2)
    await caller.wait_until_heard(0.2)


def find_onsets(samples: Any) -> list[float]:
    positions = np.flatnonzero(np.abs(samples) > 0.05) / RATE
    starts = np.flatnonzero(np.diff(positions) > PAUSE_SECONDS) + 1
    return [float(positions[index]) for index in (0, *starts)]


async def test_onset_of_each_utterance_is_where_the_client_sent_and_received_it(tmp_path: Path) -> None:
    conversation, recording = tmp_path / "conversation", tmp_path / "recording"
    conversation.touch()
    recording.touch()
    files = {"BOTHOST_CONVERSATION_FILE": str(conversation), "BOTHOST_RECORDING_FILE": str(recording)}
    async with running_bot(write_bot(tmp_path, BOT_SOURCE), **files) as bot:
        caller, started_at = await hold_call(bot, "recording", talk)
    audio, rate = soundfile.read(recording)
    assert rate == RATE
    for channel, times in enumerate([caller.said, caller.heard]):
        expected = [at - started_at for at in times]
        onsets = find_onsets(audio[:, channel])
        differences = [round(1000 * (onset - at)) for onset, at in zip(onsets, expected, strict=False)]
        sys.stdout.write(f"channel {channel}: {differences} ms\n")
        assert onsets == pytest.approx(expected, abs=0.05)
    assert len(caller.said) == 3
    # A busy machine interrupts what the bot says.
    assert len(caller.heard) >= 3
    lines = [json.loads(line) for line in conversation.read_text().splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds.count("peaks") == round(len(audio) / RATE / 2 + 0.49)
    assert "recording" not in kinds
    assert kinds[-1] == "end"


async def test_no_audio_is_kept_at_the_level_transcript(tmp_path: Path) -> None:
    conversation, recording = tmp_path / "conversation", tmp_path / "recording"
    conversation.touch()
    recording.touch()
    files = {"BOTHOST_CONVERSATION_FILE": str(conversation), "BOTHOST_RECORDING_FILE": str(recording)}
    async with running_bot(write_bot(tmp_path, BOT_SOURCE), **files) as bot:
        await hold_call(bot, "transcript", ask_once)
    assert recording.read_bytes() == b""
    assert '"kind":"peaks"' not in conversation.read_text()
