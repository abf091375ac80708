"""Opens a file that the service created for the bot."""

import os
import stat


def open_regular_file(path: str) -> int | None:
    """Open a file for appending. Returns its descriptor, or None if it is missing or not a regular file."""
    # Neither follow a link nor wait for the reader of a FIFO.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None
