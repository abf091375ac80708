"""Implements docs/bot-contract.md for a module that defines `async def bot(args)`.

Run `python -m bothost_shim` in the directory of the module.
"""

__version__ = "0.1.0"
