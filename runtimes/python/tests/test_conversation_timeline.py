"""Tests of the time axis of a recording."""

import numpy as np
import pytest

from bothost_shim.conversation.audio_timeline import RECORDING_RATE, AudioTimeline, Samples, to_mono

PACKET_SECONDS = 0.02


def loud(seconds: float, rate: int = RECORDING_RATE) -> Samples:
    return (8_000 * np.sin(2 * np.pi * 440 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


def silent(seconds: float, rate: int = RECORDING_RATE) -> Samples:
    return np.zeros(round(seconds * rate), np.int16)


def find_sounds(audio: Samples) -> list[tuple[float, float]]:
    """Return the start and the end of each sound, in seconds. Sounds are at least 15 ms apart."""
    positions = np.flatnonzero(np.abs(audio.astype(np.int32)) > 2_000) / RECORDING_RATE
    gaps = np.flatnonzero(np.diff(positions) > 0.015)
    starts = [positions[0], *positions[gaps + 1]] if positions.size else []
    ends = [*positions[gaps], positions[-1]] if positions.size else []
    return [(round(float(start), 2), round(float(end), 2)) for start, end in zip(starts, ends, strict=True)]


def send(timeline: AudioTimeline, samples: Samples, at: float, *, late: float = 0, rate: int = RECORDING_RATE) -> None:
    """Send packets that arrive in real time from `at` on, or in a burst if they are late by up to `late` seconds."""
    size = round(PACKET_SECONDS * rate)
    for index in range(0, len(samples), size):
        arrives = max(at + index / rate, at + late)
        timeline.add("client", rate, samples[index : index + size], arrives)


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_sounds_keep_their_times_at_each_sample_rate(rate: int) -> None:
    timeline = AudioTimeline(catches_up=True)
    send(timeline, np.concatenate([silent(0.3, rate), loud(0.2, rate)]), 0.1, rate=rate)
    send(timeline, loud(0.2, rate), 0.8, rate=rate)
    audio = np.concatenate([timeline.take(800) for _ in range(24)])
    assert find_sounds(audio) == [(0.4, 0.6), (0.8, 1.0)]


def test_parts_of_a_resampled_sound_fit_together() -> None:
    parts, whole = AudioTimeline(catches_up=True), AudioTimeline(catches_up=True)
    for timeline in (parts, whole):
        send(timeline, loud(0.5, 24_000), 0, rate=24_000)
    audio = np.concatenate([parts.take(800) for _ in range(9)])
    assert np.abs(audio.astype(np.int32) - whole.take(7_200)).max() < 40


def test_packets_that_the_network_delayed_fill_the_gap_of_their_delay() -> None:
    timeline = AudioTimeline(catches_up=True)
    send(timeline, loud(0.2), 0)
    send(timeline, loud(0.3), 0.2, late=0.15)
    send(timeline, silent(0.2), 0.5)
    send(timeline, loud(0.2), 0.7)
    assert find_sounds(timeline.take(RECORDING_RATE)) == [(0.0, 0.5), (0.7, 0.9)]


def test_packets_with_little_jitter_stay_together() -> None:
    timeline = AudioTimeline(catches_up=True)
    for index in range(50):
        timeline.add("client", RECORDING_RATE, loud(PACKET_SECONDS), index * PACKET_SECONDS + 0.018 * (index % 2))
    assert find_sounds(timeline.take(RECORDING_RATE * 2)) == [(0.0, 1.0)]


def test_silence_of_a_burst_is_dropped() -> None:
    timeline = AudioTimeline(catches_up=True)
    send(timeline, silent(0.5), -0.5, late=0.5)
    send(timeline, silent(0.4), 0)
    send(timeline, loud(0.2), 0.4)
    assert find_sounds(timeline.take(RECORDING_RATE)) == [pytest.approx((0.4, 0.6), abs=0.025)]


def test_speech_of_a_burst_is_kept_and_the_next_silence_catches_up() -> None:
    timeline = AudioTimeline(catches_up=True)
    timeline.take(RECORDING_RATE)
    send(timeline, loud(0.5), 0.5, late=0.5)
    send(timeline, silent(0.8), 1.0)
    send(timeline, loud(0.2), 1.8)
    assert find_sounds(timeline.take(2 * RECORDING_RATE)) == [(0.0, 0.5), pytest.approx((0.8, 1.0), abs=0.025)]


def test_clock_of_a_client_that_runs_fast_is_corrected_in_silence() -> None:
    timeline = AudioTimeline(catches_up=True)
    for index in range(1_000):
        sound = loud(PACKET_SECONDS) if index % 50 == 0 else silent(PACKET_SECONDS)
        timeline.add("client", RECORDING_RATE, sound, index * PACKET_SECONDS * 0.99)
    sounds = find_sounds(timeline.take(20 * RECORDING_RATE))
    assert [start for start, _ in sounds] == pytest.approx([0.99 * index for index in range(20)], abs=0.03)


def test_bots_audio_that_is_early_waits_until_an_interruption_removes_it() -> None:
    timeline = AudioTimeline(catches_up=False)
    for index in range(50):
        timeline.add("bot", RECORDING_RATE, loud(PACKET_SECONDS), index * 0.002)
    timeline.cut(0.6)
    timeline.add("bot", RECORDING_RATE, loud(0.1), 0.8)
    assert find_sounds(timeline.take(RECORDING_RATE)) == [(0.0, 0.6), (0.8, 0.9)]


def test_bots_audio_that_is_far_too_early_is_dropped() -> None:
    timeline = AudioTimeline(catches_up=False)
    for _ in range(100):
        timeline.add("bot", RECORDING_RATE, loud(1), 0)
    assert [end for _, end in find_sounds(timeline.take(100 * RECORDING_RATE))] == [31.0]


def test_participants_of_a_side_are_mixed_without_overflow() -> None:
    timeline = AudioTimeline(catches_up=True)
    full = np.full(1_600, 30_000, np.int16)
    timeline.add("first", RECORDING_RATE, full, 0)
    timeline.add("second", RECORDING_RATE, full, 0.05)
    audio = timeline.take(3_200)
    assert (audio[0], audio[1_200], audio[2_000], audio[3_000]) == (30_000, 32_767, 30_000, 0)


def test_channels_of_a_frame_are_averaged() -> None:
    audio = np.array([100, 300, -5, 5], np.int16).tobytes()
    assert to_mono(audio + b"\x00", 2).tolist() == [200, 0]
    assert to_mono(audio, 1).tolist() == [100, 300, -5, 5]
