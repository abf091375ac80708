"""Reads the configuration, one line of JSON, from standard input, and runs the supervisor."""

import json
import os
import sys

from .supervisor import Supervisor


def main() -> None:
    """Run until the fork server and all instances have ended."""
    config = json.loads(sys.stdin.readline())
    # Close the descriptors that the service passed on, so that bots cannot use them.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    # Allow only the account of the service to read files that this process creates. Bots keep the umask of the service.
    umask = os.umask(0o077)
    Supervisor(config | {"umask": umask}).run()


if __name__ == "__main__":
    main()
