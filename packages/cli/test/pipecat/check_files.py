"""Parses generated files with the tools that will read them, and reports their errors.

Reads a JSON list of paths from standard input and prints a list of {path, error} as its last line. Checks `pyproject.toml`
with the schemas of PEP 517, 518, 621 and 735, and scenarios with the loader of `pipecat eval`.
"""

import json
import sys
import tomllib
import warnings
from pathlib import Path

from pipecat.evals.scenario import EvalScenarioFile
from validate_pyproject import api


def parse_generated_file(path, validate):
    if path.name == "pyproject.toml":
        validate(tomllib.loads(path.read_text(encoding="utf-8")))
    else:
        assert len(EvalScenarioFile.load(path)) > 0


def find_parse_error(path, validate):
    try:
        parse_generated_file(Path(path), validate)
    except Exception as error:  # noqa: BLE001: every failure is reported as the file's
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    warnings.simplefilter("error")
    # All files share one validator, because creating a validator takes longer than validating a hundred files.
    validate = api.Validator()
    print(json.dumps([{"path": path, "error": find_parse_error(path, validate)} for path in json.load(sys.stdin)]))
