"""Parses generated files by the tools that will read them, and says what these say.

Reads a JSON list of paths on standard input and writes a list of {path, error} as its last line: `pyproject.toml` by the
schemas of PEP 517, 518, 621 and 735, scenarios of evaluations by the loader of `pipecat eval`.
"""

import json
import sys
import tomllib
import warnings
from pathlib import Path

from pipecat.evals.scenario import EvalScenarioFile
from validate_pyproject import api


def check(path):
    if path.name == "pyproject.toml":
        api.Validator()(tomllib.loads(path.read_text(encoding="utf-8")))
    else:
        assert len(EvalScenarioFile.load(path)) > 0


def said(path):
    try:
        check(Path(path))
    except Exception as error:  # noqa: BLE001: whatever it is, it is the file's fault
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(json.dumps([{"path": path, "error": said(path)} for path in json.load(sys.stdin)]))
