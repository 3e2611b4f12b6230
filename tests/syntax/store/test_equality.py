"""A version says the same whatever was built before it, in any order, by any process."""

import json
import os
import subprocess
import sys

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store.places import HERE, Place, said
from store.trees import history

_FUZZ = settings(
    max_examples=int(os.environ.get("VACMCP_FUZZ", "8")),
    deadline=None,
    derandomize="VACMCP_FUZZ" not in os.environ,
    suppress_health_check=list(HealthCheck),
)


@_FUZZ
@given(seed=st.integers(0, 2**32), gaps=st.lists(st.booleans(), min_size=4, max_size=4))
def test_what_is_built_on_earlier_versions_equals_a_clean_build(seed, gaps):
    place = Place()
    for gap, files in zip([False, *gaps], history(seed, 4), strict=True):
        target, built = place.made(files)
        clean = Place()
        clean_target, clean_built = clean.made(files)
        assert place.records(built) == clean.records(clean_built)
        assert said(place.edges(target)) == said(clean.edges(clean_target))
        assert (built.sites, built.languages) == (clean_built.sites, clean_built.languages)
        if gap:
            place.forget(built.artifact.key)


@_FUZZ
@given(seed=st.integers(0, 2**32))
def test_the_order_of_versions_makes_no_difference(seed):
    versions = list(history(seed, 2))
    told = []
    for order in (versions, versions[::-1]):
        place = Place()
        built = {id(files): place.made(files) for files in order}
        told.append(
            [
                (place.records(built[id(files)][1]), said(place.edges(built[id(files)][0])))
                for files in versions
            ]
        )
    assert told[0] == told[1]


def test_hash_seeds_and_processes_make_no_difference():
    script = HERE / "told.py"
    told = {
        subprocess.run(
            [sys.executable, str(script), str(processes)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            timeout=120,
        ).stdout
        for seed, processes in (("0", 1), ("1", 2), ("77", 1), ("12345", 2))
    }
    (only,) = told
    assert len(json.loads(only)) == 6


def test_the_trees_have_calls_of_every_kind():
    kinds = set()
    for seed in range(12):
        place = Place()
        target, _ = place.made(next(history(seed, 0)))
        kinds |= {kind for *_, kind in said(place.edges(target))}
    assert kinds >= {"resolved", "inferred", "candidate", "external"}
