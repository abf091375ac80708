"""Finds names in generated code that an early release of pipecat-ai lacks, according to the release's source.

Reads {known, checks} as JSON from standard input. `known` is the source directory of a later release with all names that
the code uses. `checks` is a list of {release, paths}: the source directory of an early release, and the Python files of
the code. Prints as its last line, for each check, a list of {path, missing}. `missing` are the modules, imported names,
arguments of calls, settings, events and attributes that the early release lacks.
"""

import ast
import json
import sys
from functools import cache
from pathlib import Path

from pipecat_source import (
    list_class_fields,
    list_constructor_parameters,
    list_function_parameters,
    list_service_settings,
    parse_file,
    read_module,
    walk_base_classes,
)

# Methods of Python's built-in types. Calls of methods with these names do not count as uses of the library.
BUILTIN_METHODS = {name for one in (str, bytes, dict, list, set) for name in dir(one)}


@cache
def list_pipecat_definitions(root):
    """Return the names of all methods, attributes and events of a release."""
    names, events = set(), set()
    for path in Path(root, "pipecat").rglob("*.py"):
        for node in ast.walk(parse_file(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.ClassDef):
                names |= list_class_fields(node)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_register_event_handler":
                events |= {one.value for one in node.args if isinstance(one, ast.Constant)}
    return names, events


@cache
def list_attributes_missing_in_release(release, known):
    """Return the attributes that the release in the directory `known` defines and the release in `release` lacks."""
    return list_pipecat_definitions(known)[0] - list_pipecat_definitions(release)[0] - BUILTIN_METHODS


class PipecatReferences:
    """The names from pipecat-ai that occur in one Python file."""

    def __init__(self, path):
        self.tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        self.origins = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pipecat"
            for alias in node.names
        }

    def missing(self, release, known):
        yield from self.missing_imports(release)
        events = list_pipecat_definitions(release)[1]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr in list_attributes_missing_in_release(release, known):
                yield f".{node.attr}"
            if isinstance(node, ast.Call):
                if getattr(node.func, "attr", "") == "event_handler":
                    yield from (one.value for one in node.args if one.value not in events)
                given = [word.arg for word in node.keywords]
                taken = self.taken(release, node.func)
                yield from (f"{ast.unparse(node.func)}({name}=)" for name in given if taken is not None and name not in taken)

    def missing_imports(self, release):
        for module, name in self.origins.values():
            try:
                if not read_module(release, module).has(name):
                    yield f"{module}.{name}"
            except LookupError as error:
                yield f"{module}.{name}: {error}"

    def taken(self, release, function):
        """Return the argument names of an imported function or class, or None for any other expression."""
        whole = function.value if isinstance(function, ast.Attribute) else function
        if not isinstance(whole, ast.Name) or whole.id not in self.origins:
            return None
        module, name = self.origins[whole.id]
        try:
            source, found = read_module(release, module).find(name)
        except LookupError:
            return None
        if found is None:
            return None
        if not isinstance(found, ast.ClassDef):
            return list_function_parameters(found)
        if isinstance(function, ast.Attribute):
            return list_service_settings(source, found.name) if function.attr == "Settings" else None
        return list_constructor_parameters(source, found.name).union(
            *(list_class_fields(owner) for _, owner in walk_base_classes(source, found.name))
        )


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    found = [
        [
            {"path": path, "missing": sorted(set(PipecatReferences(path).missing(check["release"], asked["known"])))}
            for path in check["paths"]
        ]
        for check in asked["checks"]
    ]
    print(json.dumps(found))
