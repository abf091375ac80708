"""The supervisor of one fork server and of the instances that it forks.

It has the rights of the service and never runs code of a tenant: it uses the interpreter from which the bot's
environment was created, but isolated from this environment (`python -I -S`). `docs/decisions/0025-start-by-fork.md`
says why it is a separate process.
"""
