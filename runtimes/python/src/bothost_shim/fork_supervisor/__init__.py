"""The supervisor of one fork server and of the instances that it forks.

The supervisor has the rights of the service, so it must never run code of a tenant. It therefore uses the base
interpreter of the bot's environment, but loads no packages from this environment (`python -I -S`).
`docs/decisions/0025-start-by-fork.md` says why the supervisor is a separate process.
"""
