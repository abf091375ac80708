"""The file that says whether an instance was started and how it ended, in the same format as for a spawned instance."""

import os

_UNWRITTEN = b"    "


class ExitFile:
    """An exit file that stays open and has reserved space, so that the status can be written even if the disk is full
    or its directory was renamed.
    """

    def __init__(self, path: str) -> None:
        """Create the file with room for the status. Raises OSError."""
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        os.write(self._descriptor, _UNWRITTEN)

    def mark_started(self) -> None:
        """Record that the bot is about to run."""
        os.pwrite(self._descriptor, b"r", 0)

    def write_status(self, result: os.waitid_result) -> None:
        """Record the exit status of the process. After a signal, the status is 128 plus the signal's number."""
        status = result.si_status if result.si_code == os.CLD_EXITED else 128 + result.si_status
        os.pwrite(self._descriptor, f"{status:3d}".encode(), 1)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
