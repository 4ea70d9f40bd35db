"""Files that are named on the command line."""

from pathlib import Path

from isthmus.core import Problem
from isthmus.transfer import PolicyFile


def policy_file(
    policy: Path | None, normaliser: Path | None, layout: str | None, *, trust: bool = False
) -> PolicyFile | None:
    """The policy that is asked for, if it is not the task's expert."""
    if policy is None:
        if normaliser or layout:
            raise Problem("--normaliser and --layout go with --policy: give the policy they belong to")
        return None
    file = PolicyFile(str(policy), str(normaliser) if normaliser else None, layout)
    return file.trusted() if trust else file
