"""The supervisor of one fork server and of the instances that it forks.

It runs with the rights of the service, from the interpreter that the bot's environment was made with, isolated from
that environment (`python -I -S`): no code of a tenant ever runs in it. `docs/decisions/0025-start-by-fork.md` says why
it is a process of its own.
"""
