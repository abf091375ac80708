"""Collects the words that the bot spoke, for pipelines that do not write the bot's turns to a context."""

from typing import Any

from pipecat.observers.base_observer import FramePushed


class SpokenWords:
    """Collects text frames of a text-to-speech service until the bot stops to speak."""

    def __init__(self) -> None:
        """Create an empty collection."""
        self._frames: list[Any] = []

    def add(self, data: FramePushed) -> None:
        """Add a word or a sentence. Its presentation time is known if the service reports the times of words."""
        self._frames.append(data.frame)

    def take(self, until: int | None) -> str:
        """Return the text and forget it. Words whose time is later than `until`, in nanoseconds, were not spoken."""
        text = ""
        for frame in self._frames:
            if until is not None and frame.pts is not None and frame.pts > until:
                break
            has_spaces = not text or getattr(frame, "includes_inter_frame_spaces", False)
            text += frame.text if has_spaces else f" {frame.text}"
        self._frames.clear()
        return text.strip()
