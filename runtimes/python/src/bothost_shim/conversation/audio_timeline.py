"""Places the audio of one side of a conversation on the session's time axis, by the clock of its arrival."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import soxr

Samples = npt.NDArray[np.int16]

# Samples per second of a recording.
RECORDING_RATE = 16_000
# Audio that is earlier or later than this, compared with the clock, is moved. Clients buffer a little of the bot's
# audio, so that they play it without a gap if it is late by less than this.
_USER_TOLERANCE_SECONDS = 0.02
_BOT_TOLERANCE_SECONDS = 0.04
# Audio that is earlier than this is dropped, so that memory stays bounded.
_MAX_AHEAD_SECONDS = 30.0
# Audio around a part that the resampler needs so that parts fit together.
_CONTEXT_SECONDS = 0.02
# Highest amplitude of audio that may be dropped to catch up with the clock: -36 dB.
_QUIET_AMPLITUDE = 512
_SAMPLE_BYTES = 2


@dataclass
class _Run:
    """Audio without a gap. Positions count samples of the track since the session's start."""

    start: int
    data: bytearray = field(default_factory=bytearray)

    @property
    def end(self) -> int:
        return self.start + len(self.data) // _SAMPLE_BYTES


@dataclass
class _Track:
    """The audio of one participant, or of one destination, that was not taken yet."""

    rate: int
    runs: list[_Run] = field(default_factory=list)


class AudioTimeline:
    """The audio of one side. Its tracks are mixed.

    Audio of the user can be late and then catch up, because the network or this process stalled. It then fills the
    gap that its delay left. Audio of the bot that is early waits at the client, so that it keeps its place.
    """

    def __init__(self, *, catches_up: bool) -> None:
        """Create an empty timeline. `catches_up` is true for the user's side."""
        self._catches_up = catches_up
        self._tolerance_seconds = _USER_TOLERANCE_SECONDS if catches_up else _BOT_TOLERANCE_SECONDS
        self._tracks: dict[Hashable, _Track] = {}
        # Samples of the recording that were taken.
        self._taken = 0

    def add(self, key: Hashable, rate: int, samples: Samples, at: float) -> None:
        """Add audio of a track. `at` is the time of its first sample by the clock, in seconds since the start."""
        track = self._tracks.setdefault((key, rate), _Track(rate))
        wanted = max(round(at * rate), self._to_track(track, self._taken))
        run = track.runs[-1] if track.runs else None
        tolerance = self._tolerance_seconds * rate
        if run is None or wanted - run.end > tolerance:
            run = _Run(wanted)
            track.runs.append(run)
        elif run.end - wanted > _MAX_AHEAD_SECONDS * rate:
            return
        elif self._catches_up and run.end - wanted > tolerance:
            self._close_gaps(track, run.end - wanted)
            run = track.runs[-1]
            if run.end - wanted > tolerance and _is_quiet(samples):
                samples = samples[run.end - wanted :]
        run.data += samples.tobytes()

    def cut(self, at: float) -> None:
        """Remove the audio after a time, in seconds since the start. The client discarded it."""
        for track in self._tracks.values():
            end = round(at * track.rate)
            for run in track.runs:
                del run.data[max(0, end - run.start) * _SAMPLE_BYTES :]
            track.runs = [run for run in track.runs if run.data]

    def take(self, count: int) -> Samples:
        """Return the next samples of the recording."""
        start, end = self._taken, self._taken + count
        mixed = np.zeros(count, np.float32)
        for key, track in list(self._tracks.items()):
            context = round(_CONTEXT_SECONDS * track.rate)
            first = self._to_track(track, start) - context
            audio = _read(track, first, self._to_track(track, end) + 1 + context)
            if audio is not None:
                audio = audio if track.rate == RECORDING_RATE else soxr.resample(audio, track.rate, RECORDING_RATE)
                offset = start - round(first * RECORDING_RATE / track.rate)
                mixed += audio[offset : offset + count]
            _forget(track, self._to_track(track, end) - context)
            if not track.runs:
                del self._tracks[key]
        self._taken = end
        return np.clip(mixed, -32_768, 32_767).astype(np.int16)

    def _close_gaps(self, track: _Track, ahead: int) -> None:
        """Move the latest run, and each run that it then touches, back by up to `ahead` samples."""
        while ahead > 0 and track.runs:
            run = track.runs[-1]
            previous = track.runs[-2] if len(track.runs) > 1 else None
            earliest = max(self._to_track(track, self._taken), 0 if previous is None else previous.end)
            shift = min(ahead, run.start - earliest)
            if shift > 0:
                run.start -= shift
                ahead -= shift
            if previous is None or run.start > previous.end:
                return
            previous.data += run.data
            track.runs.pop()

    def _to_track(self, track: _Track, position: int) -> int:
        return position * track.rate // RECORDING_RATE


def to_mono(audio: bytes, channels: int) -> Samples:
    """Return 16-bit audio as samples of one channel."""
    frame_bytes = _SAMPLE_BYTES * channels
    samples: Samples = np.frombuffer(audio[: len(audio) - len(audio) % frame_bytes], np.int16)
    return samples if channels == 1 else samples.reshape(-1, channels).mean(axis=1).astype(np.int16)


def _is_quiet(samples: Samples) -> bool:
    return bool(np.abs(samples.astype(np.int32)).max(initial=0) <= _QUIET_AMPLITUDE)


def _read(track: _Track, first: int, last: int) -> Any:
    """Return the samples of a track from `first` to before `last`, with silence in gaps. None if all are silence."""
    runs = [run for run in track.runs if run.start < last and run.end > first]
    if not runs:
        return None
    audio = np.zeros(last - first, np.float32)
    for run in runs:
        begin, end = max(first, run.start), min(last, run.end)
        data = run.data[(begin - run.start) * _SAMPLE_BYTES : (end - run.start) * _SAMPLE_BYTES]
        audio[begin - first : end - first] = np.frombuffer(data, np.int16)
    return audio


def _forget(track: _Track, before: int) -> None:
    for run in track.runs:
        count = min(max(0, before - run.start), run.end - run.start)
        del run.data[: count * _SAMPLE_BYTES]
        run.start += count
    track.runs = [run for run in track.runs if run.data]
