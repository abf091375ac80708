"""Makes Pipecat run the setup file of the host."""

import os
from pathlib import Path

_VARIABLE = "PIPECAT_SETUP_FILES"
_FILE = str(Path(__file__).with_name("pipecat_setup.py"))


def add_setup_file() -> None:
    """Make Pipecat run the setup file for each pipeline. Pipecat reads the variable when it sets up a pipeline."""
    # The bot's environment may name files of its own.
    files = [file for file in os.environ.get(_VARIABLE, "").split(os.pathsep) if file]
    if _FILE not in files:
        os.environ[_VARIABLE] = os.pathsep.join([*files, _FILE])
