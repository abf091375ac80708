"""Tests of the recording file."""

import asyncio
import base64
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame
from running_bot import SHIM_SOURCE_DIRECTORY

from bothost_shim.conversation import ogg_file
from bothost_shim.conversation.recorder import SessionRecorder
from bothost_shim.conversation.writer import ConversationWriter

RATE = 16_000


@dataclass
class Files:
    conversation: Path
    recording: Path

    def start(self, started_at: float | None = None) -> SessionRecorder:
        at = time.time() if started_at is None else started_at
        return SessionRecorder(str(self.recording), ConversationWriter(str(self.conversation), "recording", at))

    def lines(self, kind: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.conversation.read_text().splitlines()]
        return [line for line in lines if line["kind"] == kind]

    def decode(self) -> Any:
        import soundfile

        audio, rate = soundfile.read(self.recording)
        assert rate == RATE
        return audio


@pytest.fixture
def files(tmp_path: Path) -> Files:
    files = Files(tmp_path / "conversation", tmp_path / "recording")
    files.conversation.touch()
    files.recording.touch()
    return files


def tone(seconds: float) -> bytes:
    return (8_000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * RATE)) / RATE)).astype(np.int16).tobytes()


def test_recording_has_the_user_on_the_left_and_the_bot_on_the_right(files: Files) -> None:
    recorder = files.start(time.time() - 5)
    # The first part is written before audio arrives.
    wait_until(lambda: files.recording.stat().st_size >= 1_000)
    recorder.add("user", "client", InputAudioRawFrame(tone(0.5), RATE, 1))
    recorder.add("bot", "speaker", OutputAudioRawFrame(tone(0.2), RATE, 1), begins_now=True)
    # The recording has only what was played.
    time.sleep(0.3)
    close(recorder)
    audio = files.decode()
    user, bot = (np.flatnonzero(np.abs(audio[:, channel]) > 0.1) / RATE for channel in (0, 1))
    assert user.max() - user.min() == pytest.approx(0.5, abs=0.01)
    assert bot.max() - bot.min() == pytest.approx(0.2, abs=0.01)
    assert bot.min() == pytest.approx(user.max(), abs=0.03)
    assert 5.3 <= len(audio) / RATE < 6
    assert files.lines("recording") == []


def test_peaks_have_a_byte_of_each_side_for_each_step_of_the_recording(files: Files) -> None:
    recorder = files.start(time.time() - 5)
    wait_until(lambda: files.recording.stat().st_size >= 1_000)
    recorder.add("bot", "speaker", OutputAudioRawFrame(tone(0.2), RATE, 1))
    close(recorder)
    lines = files.lines("peaks")
    assert [line["from"] for line in lines] == [0, 2_000, 4_000]
    user, bot = (b"".join(base64.b64decode(line[side]) for line in lines) for side in ("user", "bot"))
    assert len(user) == len(bot) == round(len(files.decode()) / RATE * 20)
    assert set(user) == {0}
    assert 3 <= sum(1 for peak in bot if peak > 55) <= 6
    assert max(bot) == 8_000 * 255 // 32_768


def test_killed_process_loses_at_most_two_seconds(files: Files) -> None:
    program = f"""
import sys, time
sys.path.insert(0, {str(SHIM_SOURCE_DIRECTORY)!r})
from pipecat.frames.frames import InputAudioRawFrame
from bothost_shim.conversation.recorder import SessionRecorder
from bothost_shim.conversation.writer import ConversationWriter
writer = ConversationWriter({str(files.conversation)!r}, "recording", time.time() - 10)
recorder = SessionRecorder({str(files.recording)!r}, writer)
print(writer.started_at, flush=True)
while True:
    recorder.add("user", "client", InputAudioRawFrame(bytes(640), 16_000, 1))
    time.sleep(0.02)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        started_at = float(process.stdout.readline())
        # Let it write pages in real time.
        wait_until(lambda: time.time() > started_at + 13.3)
        process.kill()
        killed_at = time.time() - started_at
    assert killed_at - 2 < len(files.decode()) / RATE <= killed_at


def test_full_disk_ends_the_recording_and_is_reported_once(files: Files) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        files.conversation.write_text("{}" * 1_000)
        recorder = files.start(time.time() - 60)
        wait_until(lambda: recorder._has_ended)
        for _ in range(100):
            recorder.add("user", "client", InputAudioRawFrame(tone(0.02), RATE, 1))
        assert files.recording.stat().st_size == files.conversation.stat().st_size == 2_000
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    files.conversation.write_text("")
    close(recorder)
    recorder._writer.close()
    assert [line["reason"] for line in files.lines("recording")] == ["disk-full"]
    assert len(recorder._queue) == 0


def test_full_file_has_a_valid_end_and_is_reported(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ogg_file, "_FILE_BYTES", 5_000)
    recorder = files.start(time.time() - 120)
    wait_until(lambda: files.lines("recording") != [])
    close(recorder)
    [line] = files.lines("recording")
    assert line["reason"] == "limit"
    assert len(files.decode()) / RATE == pytest.approx(line["to"] / 1000)


@pytest.mark.parametrize("kind", ["missing", "link", "fifo", "not empty"])
def test_file_that_is_not_an_empty_regular_file_is_not_used(files: Files, tmp_path: Path, kind: str) -> None:
    files.recording.unlink()
    target = tmp_path / "target"
    target.touch()
    match kind:
        case "link":
            files.recording.symlink_to(target)
        case "fifo":
            os.mkfifo(files.recording)
        case "not empty":
            files.recording.write_text("earlier")
    close(files.start())
    assert [(line["to"], line["reason"]) for line in files.lines("recording")] == [(0, "unavailable")]
    assert target.read_text() == ""
    assert kind != "not empty" or files.recording.read_text() == "earlier"


def test_recording_is_unavailable_without_the_encoder(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    close(files.start())
    assert [line["reason"] for line in files.lines("recording")] == ["unavailable"]
    assert files.recording.read_bytes() == b""


def test_audio_that_the_thread_has_not_written_yet_is_bounded(files: Files) -> None:
    recorder = files.start()
    frame = InputAudioRawFrame(bytes(1_000_000), RATE, 1)
    for _ in range(50):
        recorder.add("user", "client", frame)
    assert len(recorder._queue) <= 4
    close(recorder)


def test_encoder_only_appends(files: Files) -> None:
    descriptor = os.open(files.recording, os.O_RDONLY)
    recorder = files.start(time.time() - 100)
    wait_until(lambda: files.recording.stat().st_size >= 1)
    written = b""
    for _ in range(3):
        recorder.add("bot", "speaker", OutputAudioRawFrame(tone(1), RATE, 1))
        time.sleep(0.3)
        data = os.pread(descriptor, 1_000_000, 0)
        assert data.startswith(written)
        written = data
    close(recorder)
    os.close(descriptor)
    assert files.recording.read_bytes().startswith(written)
    assert written.startswith(b"OggS")


def close(recorder: SessionRecorder) -> None:
    asyncio.run(recorder.close())


def wait_until(is_reached: Callable[[], bool]) -> None:
    while not is_reached():
        time.sleep(0.02)
