"""Looks up the services of the `botcli init` catalogue in the installed pipecat-ai.

`look_up_service` takes {value, module, class, arguments, settings, extras} and returns {value, how, missing, deprecated,
python}. `python` is the lowest Python version on which pip installs all packages of the extras. `how` is "imported" if
the class could be imported, and "nowhere" if the module could be imported but lacks the class. If the import failed, for
example because a package of the vendor is not installed, the class is looked up in the source of the module, and `how` is
"source".
"""

import importlib
import importlib.util
import inspect
from dataclasses import fields, is_dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from pipecat_source import list_constructor_parameters, list_service_settings, read_module

PYTHON_VERSIONS = ["3.11", "3.12", "3.13", "3.14"]


def inspect_service_import(service):
    found = getattr(importlib.import_module(service["module"]), service["class"])
    taken, deprecated = set(), []
    for owner in found.__mro__:
        if "__init__" not in vars(owner):
            continue
        parameters = inspect.signature(owner.__init__).parameters
        taken |= set(parameters)
        if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
            break
    keys = set()
    if service["settings"]:
        assert is_dataclass(found.Settings)
        keys = {one.name for one in fields(found.Settings)}
    if getattr(found, "__deprecated__", None):
        deprecated.append(service["class"])
    return taken, keys, deprecated


def inspect_service_source(service):
    root = Path(importlib.util.find_spec("pipecat").origin).parent.parent
    source = read_module(root, service["module"])
    if source.find(service["class"])[1] is None:
        raise LookupError(f"{service['module']} has no {service['class']}")
    return list_constructor_parameters(source, service["class"]), list_service_settings(source, service["class"]), []


def find_lowest_python(extras):
    """Return the lowest Python version on which pip installs every package of the given extras of pipecat-ai.

    On an older Python version, pip silently skips packages whose environment marker excludes that version. Return None
    if no version installs every package.
    """
    requirements = [one for one in map(Requirement, metadata.requires("pipecat-ai")) if one.marker]
    own = {extra: [one for one in requirements if f'extra == "{extra}"' in str(one.marker)] for extra in extras}
    for version in PYTHON_VERSIONS:
        there = {"python_version": version, "python_full_version": f"{version}.0"}
        brought = {
            extra: {one.name for one in own[extra] if one.marker.evaluate(there | {"extra": extra})} for extra in extras
        }
        if all(brought[extra] == {one.name for one in own[extra]} for extra in extras):
            return version
    return None


def look_up_service(service):
    return inspect_service(service) | {"python": find_lowest_python(service["extras"])}


def inspect_service(service):
    how = "imported"
    try:
        taken, keys, deprecated = inspect_service_import(service)
    except (ImportError, Exception) as error:  # noqa: BLE001: a vendor's package may fail in any way
        if isinstance(error, AttributeError):
            return {"value": service["value"], "how": "nowhere", "missing": [service["class"]], "deprecated": []}
        how = "source"
        taken, keys, deprecated = inspect_service_source(service)
    missing = [name for name in service["arguments"] if name not in taken]
    missing += [f"settings.{name}" for name in service["settings"] if name not in keys]
    return {"value": service["value"], "how": how, "missing": missing, "deprecated": deprecated}
