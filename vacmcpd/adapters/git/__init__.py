"""git: clones, refs, objects, diffs and history."""

from .runner import GIT_FLOOR, git_version

__all__ = ["GIT_FLOOR", "git_version"]
