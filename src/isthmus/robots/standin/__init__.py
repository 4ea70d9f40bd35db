"""A stand-in for any robot that a task declares: its simulation behind a gap, in a process of its own, in real time.

Nothing that adapts a policy may look in here, and import-linter holds it to that.
"""
