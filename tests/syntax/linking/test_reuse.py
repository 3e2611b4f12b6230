"""What a later version links again, and that it comes to what a clean link gives."""

import random

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from linking.programs import edited, programs
from linking.toy import Program, version_of

from vacmcpd.adapters.syntax.deep import with_room
from vacmcpd.adapters.syntax.facts import encode
from vacmcpd.adapters.syntax.linking.link import LinkResult, Previous, Version, link

_SEEDS = st.integers(0, 2**32)
_SLOW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _bytes(result: LinkResult) -> dict[str, bytes]:
    return {path: encode(record) for path, record in result.records.items()}


def _link(version: Version, previous: Previous | None = None) -> LinkResult:
    return with_room(lambda: link(version, previous))


@_SLOW
@given(_SEEDS)
@example(0)
@example(20261)
def test_a_link_that_reuses_an_earlier_version_equals_a_clean_one(seed: int) -> None:
    chance = random.Random(seed)
    files = programs(chance)
    previous: Previous | None = None
    for _ in range(5):
        version = version_of(files)
        result = _link(version, previous)
        assert _bytes(result) == _bytes(_link(version_of(files)))
        previous = Previous(version, result.records)
        files = edited(files, chance)


@_SLOW
@given(_SEEDS)
@example(0)
@example(20261)
def test_the_order_of_files_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    files = programs(chance)
    paths = sorted(files)
    chance.shuffle(paths)
    shuffled = {path: files[path] for path in paths}
    assert _bytes(_link(version_of(files))) == _bytes(_link(version_of(shuffled)))


def test_what_nests_too_deep_to_be_followed_is_open_and_costs_nothing_else() -> None:
    chain: Program = [
        ("def", f"f{n}", [], [("return", ("call", ("name", f"f{n + 1}"), []))]) for n in range(1500)
    ]
    files = {"a.t": [*chain, ("do", ("call", ("call", ("name", "f0"), []), []))], "b.t": HELPER}
    version = version_of(files)
    result = link(version)
    assert result.records["b.t"] == _link(version_of({"b.t": HELPER})).records["b.t"]
    assert len(result.records["a.t"].edges.site) >= 1000
    again = _link(version_of(files), Previous(version, result.records))
    assert _bytes(again) == _bytes(_link(version_of(files)))


HELPER: Program = [("def", "f", [], [("return", ("text",))]), ("def", "g", [], [])]
CALLER: Program = [
    ("import", "a.t", "f", "f"),
    ("def", "h", [], [("do", ("call", ("name", "f"), []))]),
]


def _linked(before: dict[str, Program], after: dict[str, Program]) -> int:
    version = version_of(before)
    first = _link(version)
    assert first.linked == len(before)
    return _link(version_of(after), Previous(version, first.records)).linked


def test_an_unchanged_version_links_nothing() -> None:
    files = {"a.t": HELPER, "b.t": CALLER}
    assert _linked(files, dict(files)) == 0


def test_a_change_that_nobody_read_links_its_own_file() -> None:
    files = {"a.t": HELPER, "b.t": CALLER}
    assert _linked(files, {**files, "a.t": [*HELPER, ("def", "h", [], [])]}) == 1


def test_a_change_of_what_was_read_links_the_reader() -> None:
    files = {"a.t": HELPER, "b.t": CALLER, "c.t": [("do", ("name", "x"))]}
    assert _linked(files, {**files, "a.t": HELPER[1:]}) == 2


def test_a_file_that_comes_to_be_links_who_looked_for_it() -> None:
    files = {"b.t": CALLER, "c.t": [("do", ("name", "x"))]}
    assert _linked(files, {**files, "a.t": HELPER}) == 2
