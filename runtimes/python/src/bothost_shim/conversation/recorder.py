"""Records the audio of a session: the user on the left channel, the bot on the right one."""

import asyncio
import base64
import errno
import threading
import time
from collections import deque
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from .audio_timeline import RECORDING_RATE, AudioTimeline, Samples, to_mono
from .ogg_file import OggFile
from .writer import ConversationWriter

Side = Literal["user", "bot"]

# Seconds between two writes, and seconds for which audio may still be moved before it is written. A killed process
# loses both, and a page of the file.
_WRITE_SECONDS = 0.25
_DELAY_SECONDS = 0.6
# Seconds to write the rest at the end of a session.
_CLOSE_SECONDS = 3.0
_STEP_SAMPLES = RECORDING_RATE // 20
# Steps of a line `peaks`, and the largest number of steps that are encoded at once.
_PEAKS_STEPS = 40
# Bytes of audio that wait for the thread. What exceeds them becomes silence.
_QUEUE_BYTES = 4 * 1_048_576


class SessionRecorder:
    """Receives audio without waiting, and writes it in a thread. An error ends only the recording."""

    def __init__(self, path: str | None, writer: ConversationWriter) -> None:
        """Start to record into an empty file."""
        self._path = path
        self._writer = writer
        # The clock must not jump, unlike that of the session's start.
        self._started = time.monotonic() - (time.time() - writer.started_at)
        # Audio, or None where the bot was interrupted, with its time in seconds since the start.
        self._queue: deque[tuple[float, Side, Hashable, Any]] = deque()
        self._added_bytes = self._removed_bytes = 0
        self._timelines = {"user": AudioTimeline(catches_up=True), "bot": AudioTimeline(catches_up=False)}
        self._written_steps = 0
        self._peaks: dict[Side, bytes] = {"user": b"", "bot": b""}
        self._is_closing = threading.Event()
        self._has_ended = False
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def add(self, side: Side, key: Hashable, frame: Any, *, begins_now: bool = False) -> None:
        """Add a frame of audio. Its audio has just ended, or begins now. Participants of a side have different keys."""
        size = len(frame.audio)
        if self._has_ended or self._added_bytes - self._removed_bytes + size > _QUEUE_BYTES:
            return
        self._added_bytes += size
        seconds = 0 if begins_now else size / (2 * frame.num_channels * frame.sample_rate)
        self._queue.append((self._now() - seconds, side, key, frame))

    def interrupt_bot(self) -> None:
        """Remove audio of the bot that its client has not played yet."""
        if not self._has_ended:
            self._queue.append((self._now(), "bot", None, None))

    async def close(self) -> None:
        """Write the rest of the recording. Does not wait longer than a few seconds."""
        self.end()
        await asyncio.to_thread(self._thread.join, _CLOSE_SECONDS)

    def end(self) -> None:
        """Let the thread write the rest."""
        self._is_closing.set()

    def _now(self) -> float:
        return time.monotonic() - self._started

    def _run(self) -> None:
        reason = "unavailable"
        try:
            if self._path is None:
                raise FileNotFoundError
            file = OggFile(self._path)
            reason = "failed"
            try:
                is_complete = self._write_until_closed(file)
            finally:
                file.close()
            if is_complete:
                return
            reason = "limit"
        except OSError as error:
            reason = "disk-full" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else reason
        except Exception:  # noqa: S110 the reason tells which part failed
            pass
        finally:
            self._has_ended = True
            self._queue.clear()
        self._write_peaks()
        self._writer.write("recording", to=self._written_steps * 50, reason=reason)

    def _write_until_closed(self, file: OggFile) -> bool:
        """Return whether the recording has its end. If not, the file is full."""
        while not self._is_closing.wait(_WRITE_SECONDS):
            self._write(file, self._now() - _DELAY_SECONDS)
            if file.is_full:
                return False
        self._write(file, self._now())
        self._write_peaks()
        return True

    def _write(self, file: OggFile, until: float) -> None:
        for _ in range(len(self._queue)):
            at, side, key, frame = self._queue.popleft()
            if frame is None:
                self._timelines[side].cut(at)
                continue
            self._removed_bytes += len(frame.audio)
            self._timelines[side].add(key, frame.sample_rate, to_mono(frame.audio, frame.num_channels), at)
        last_step = int(until * RECORDING_RATE / _STEP_SAMPLES)
        while self._written_steps < last_step and not file.is_full:
            steps = min(last_step - self._written_steps, _PEAKS_STEPS - len(self._peaks["user"]))
            audio = {side: timeline.take(steps * _STEP_SAMPLES) for side, timeline in self._timelines.items()}
            file.write(np.column_stack([audio["user"], audio["bot"]]))
            self._written_steps += steps
            for side in self._peaks:
                self._peaks[side] += _measure_peaks(audio[side])
            if len(self._peaks["user"]) == _PEAKS_STEPS:
                self._write_peaks()

    def _write_peaks(self) -> None:
        count = len(self._peaks["user"])
        if count > 0:
            peaks = {side: base64.b64encode(values).decode() for side, values in self._peaks.items()}
            self._writer.write("peaks", **{"from": (self._written_steps - count) * 50}, **peaks)
            self._peaks = dict.fromkeys(self._peaks, b"")


def _measure_peaks(samples: Samples) -> bytes:
    """Return the highest amplitude of each step, from 0 to 255."""
    amplitudes = np.abs(samples.astype(np.int32)).reshape(-1, _STEP_SAMPLES).max(axis=1)
    return bytes(np.minimum(amplitudes >> 7, 255).astype(np.uint8))
