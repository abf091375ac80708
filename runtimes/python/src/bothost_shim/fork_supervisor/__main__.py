"""Reads the configuration, one line of JSON, from standard input, and runs the supervisor."""

import json
import os
import sys

from .supervisor import Supervisor


def main() -> None:
    """Run to the end of the fork server and of all instances."""
    config = json.loads(sys.stdin.readline())
    # Descriptors that the service inherited are not for bots.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    # Only the account of the service may read files that this process creates.
    os.umask(0o077)
    Supervisor(config).run()


if __name__ == "__main__":
    main()
