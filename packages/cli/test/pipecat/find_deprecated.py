"""Finds uses of pipecat-ai in generated code that the library documents as deprecated.

Type checkers only find deprecations in decorators. For arguments, settings and whole modules, the library uses the
directive `.. deprecated::` in docstrings. `check_library_use.py` runs this check.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

DEPRECATED_DIRECTIVE_PATTERN = re.compile(r"^( *)\.\. deprecated::")
DOCSTRING_ARGUMENT_PATTERN = re.compile(r"^ {4}\*{0,2}(\w+)(?: \([^)]*\))?:")


def parse_deprecations(documentation):
    """Return whether a docstring marks the whole object as deprecated, and the names of its deprecated arguments."""
    whole, arguments, entry = False, set(), None
    for line in inspect.cleandoc(documentation or "").splitlines():
        found = DEPRECATED_DIRECTIVE_PATTERN.match(line)
        if found and len(found.group(1)) == 0:
            whole = True
        elif found and entry:
            arguments.add(entry)
        elif started := DOCSTRING_ARGUMENT_PATTERN.match(line):
            entry = started.group(1)
        elif line and not line.startswith(" "):
            entry = None
    return whole, arguments


@cache
def find_deprecations(thing):
    """Return the deprecations of a function, or of a class with its constructor and base classes."""
    if inspect.isfunction(thing):
        return parse_deprecations(thing.__doc__)
    whole, arguments = parse_deprecations(thing.__doc__)[0], set()
    for owner in thing.__mro__:
        if owner.__module__.split(".")[0] == "pipecat":
            constructor_doc = getattr(vars(owner).get("__init__"), "__doc__", "")
            arguments |= parse_deprecations(owner.__doc__)[1] | parse_deprecations(constructor_doc)[1]
    return whole, arguments


@cache
def find_deprecated_methods():
    """Return the names of methods that are deprecated in every class that has them."""
    root = Path(importlib.import_module("pipecat").__file__).parent
    marked, sound = set(), set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                (marked if parse_deprecations(ast.get_docstring(node))[0] else sound).add(node.name)
    return marked - sound


def resolve_expression(node, imported):
    """Return the object that an expression like `Name` or `Name.Settings` refers to, or None."""
    if isinstance(node, ast.Name):
        return imported.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = resolve_expression(node.value, imported)
        return None if owner is None else getattr(owner, node.attr, None)
    return None


def find_deprecated_uses(path):
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    imported = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pipecat":
            module = importlib.import_module(node.module)
            if parse_deprecations(module.__doc__)[0]:
                yield node.module
            for alias in node.names:
                thing = getattr(module, alias.name)
                imported[alias.asname or alias.name] = thing
                if (inspect.isclass(thing) or inspect.isfunction(thing)) and find_deprecations(thing)[0]:
                    yield alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            thing = resolve_expression(node.func, imported)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                old = find_deprecations(thing)[1]
                yield from (f"{thing.__name__}({word.arg}=)" for word in node.keywords if word.arg in old)
        if isinstance(node, ast.Attribute) and node.attr in find_deprecated_methods():
            yield f".{node.attr}"


def report_deprecated_uses(path):
    return {"path": path, "uses": sorted(set(find_deprecated_uses(path)))}
