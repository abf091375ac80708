"""Looks up each service of the catalogue in the installed pipecat-ai.

Reads a JSON list of {value, module, class, arguments, settings, extras} on standard input and writes one of
{value, how, missing, deprecated, python}; `python` is the lowest that all its extras bring their packages for. `how` is "imported" where the module imports with what is installed, and "source" where a
vendor's package is not there: then the class is looked up in the text of the module and of those it inherits from.
"""

import ast
import importlib
import importlib.util
import inspect
import json
import sys
import warnings
from dataclasses import fields, is_dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def imported(service):
    found = getattr(importlib.import_module(service["module"]), service["class"])
    accepted, deprecated = set(), []
    for owner in found.__mro__:
        if "__init__" not in vars(owner):
            continue
        parameters = inspect.signature(owner.__init__).parameters
        accepted |= set(parameters)
        if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
            break
    settings = set()
    if service["settings"]:
        assert is_dataclass(found.Settings)
        settings = {one.name for one in fields(found.Settings)}
    if getattr(found, "__deprecated__", None):
        deprecated.append(service["class"])
    return accepted, settings, deprecated


class Source:
    """Classes of a module, read without running it."""

    def __init__(self, module):
        spec = importlib.util.find_spec("pipecat")
        root = Path(spec.origin).parent.parent
        path = root.joinpath(*module.split("."))
        file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        tree = ast.parse(file.read_text())
        self.classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self.origins = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pipecat")
            for alias in node.names
        }

    def find(self, name):
        if name in self.classes:
            return self, self.classes[name]
        if name in self.origins:
            module, original = self.origins[name]
            return Source(module).find(original)
        return self, None


def lineage(source, name):
    source, node = source.find(name)
    if node is None:
        return
    yield source, node
    for base in node.bases:
        named = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(named, ast.Name):
            yield from lineage(source, named.id)


def from_source(service):
    accepted, settings, known = set(), set(), False
    for source, node in lineage(Source(service["module"]), service["class"]):
        known = True
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                accepted |= {one.arg for one in part.args.args + part.args.kwonlyargs}
            target = part.targets[0] if isinstance(part, ast.Assign) else getattr(part, "target", None)
            if getattr(target, "id", None) == "Settings" and isinstance(part.value, ast.Name) and not settings:
                for _, ancestor in lineage(source, part.value.id):
                    settings |= {
                        line.target.id for line in ancestor.body if isinstance(line, ast.AnnAssign)
                    }
    if not known:
        raise LookupError(f"{service['module']} has no {service['class']}")
    return accepted, settings, []


def lowest_python(extras):
    """A requirement that is left out below some Python installs nothing there, and says nothing."""
    requirements = [one for one in map(Requirement, metadata.requires("pipecat-ai")) if one.marker]
    own = {extra: [one for one in requirements if f'extra == "{extra}"' in str(one.marker)] for extra in extras}
    for version in PYTHONS:
        there = {"python_version": version, "python_full_version": f"{version}.0"}
        brought = {
            extra: {one.name for one in own[extra] if one.marker.evaluate(there | {"extra": extra})} for extra in extras
        }
        if all(brought[extra] == {one.name for one in own[extra]} for extra in extras):
            return version
    return None


def look_up(service):
    return answer(service) | {"python": lowest_python(service["extras"])}


def answer(service):
    how = "imported"
    try:
        accepted, settings, deprecated = imported(service)
    except (ImportError, Exception) as error:  # noqa: BLE001: a vendor's package may fail in any way
        if isinstance(error, AttributeError):
            return {"value": service["value"], "how": "nowhere", "missing": [service["class"]], "deprecated": []}
        how = "source"
        accepted, settings, deprecated = from_source(service)
    missing = [name for name in service["arguments"] if name not in accepted]
    missing += [f"settings.{name}" for name in service["settings"] if name not in settings]
    return {"value": service["value"], "how": how, "missing": missing, "deprecated": deprecated}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps([look_up(service) for service in json.load(sys.stdin)]))
