"""Runs an `async def bot(args)` module behind the bot contract: `python -m bothost_shim` in the bot's folder."""

__version__ = "0.1.0"
