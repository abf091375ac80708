"""Implements docs/bot-contract.md for an `async def bot(args)` module: `python -m bothost_shim` in its directory."""

__version__ = "0.1.0"
