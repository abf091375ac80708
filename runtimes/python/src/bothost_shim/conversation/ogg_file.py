"""Appends audio to the recording file, which the service created, as one stream of Ogg Opus."""

import os
from typing import Any

from .audio_timeline import RECORDING_RATE, Samples
from .regular_file import open_regular_file

# Limit of packages/contract/src/conversation/level.ts, without a margin for the last pages.
_FILE_BYTES = 256 * 1_048_576 - 262_144
# 0 to 1. About 21 MB an hour if both sides speak all the time.
_COMPRESSION_LEVEL = 0.93
# Milliseconds of audio in a page of the stream. A killed process loses the page that is not complete.
_PAGE_MS = 500.0
# `SFC_SET_OGG_PAGE_LATENCY_MS` of libsndfile's `sndfile.h`, which soundfile has no function for.
_SET_PAGE_LATENCY = 0x1302


class _AppendingFile:
    """The file as libsndfile sees it. It only appends, and keeps the error of a write: callbacks cannot raise."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._position = 0
        self.size = 0
        self.error: OSError | None = None

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        self._position = start + offset
        return self._position

    def read(self, _: int) -> bytes:
        return b""

    def write(self, data: bytes) -> int:
        written = 0
        try:
            if self.error is None and self._position != self.size:
                raise OSError("The encoder changed what it had written")
            while self.error is None and written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            self.error = error
        self.size += written
        self._position += written
        return written


class OggFile:
    """A file of Ogg Opus with two channels. Do not use an object from two threads at the same time."""

    def __init__(self, path: str) -> None:
        """Open an empty regular file. Raises OSError, or ImportError if the encoder is missing."""
        # Imported here, because it is a dependency of Pipecat, which a bot need not have.
        import soundfile

        descriptor = open_regular_file(path)
        if descriptor is None:
            raise FileNotFoundError(path)
        self._descriptor = descriptor
        self._file = _AppendingFile(descriptor)
        try:
            if os.fstat(descriptor).st_size > 0:
                raise FileExistsError(path)
            self._encoder: Any = soundfile.SoundFile(
                self._file,
                "w",
                samplerate=RECORDING_RATE,
                channels=2,
                format="OGG",
                subtype="OPUS",
                compression_level=_COMPRESSION_LEVEL,
            )
        except BaseException:
            os.close(descriptor)
            raise
        _set_page_latency(soundfile, self._encoder)

    @property
    def is_full(self) -> bool:
        """Whether the file has reached its maximum size."""
        return self._file.size > _FILE_BYTES

    def write(self, channels: Samples) -> None:
        """Append samples, one column per channel. Raises OSError if they cannot be written."""
        self._encoder.write(channels)
        if self._file.error is not None:
            raise self._file.error

    def close(self) -> None:
        """End the stream and close the file. Raises OSError if the end cannot be written."""
        try:
            self._encoder.close()
        finally:
            os.close(self._descriptor)
        if self._file.error is not None:
            raise self._file.error


def _set_page_latency(soundfile: Any, encoder: Any) -> None:
    """Make pages shorter than the second that is libsndfile's default, if this version of soundfile allows that."""
    library, ffi = getattr(soundfile, "_snd", None), getattr(soundfile, "_ffi", None)
    if library is not None and ffi is not None:
        value = ffi.new("double*", _PAGE_MS)
        library.sf_command(encoder._file, _SET_PAGE_LATENCY, value, ffi.sizeof("double"))
