"""git: clones, refs, objects, diffs and history."""
