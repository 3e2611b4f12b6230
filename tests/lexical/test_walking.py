"""Pages, deadlines, cancelled searches and threads over an index of many files."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.errors import Cancelled
from vacmcpd.ports.budget import Budget

QUERIES = [
    "needle",
    '"needle beta"',
    "needle beta",
    "needle or Foo",
    "-alpha needle",
    "file:txt -file:d3",
    "file:txt -alpha",
    '"alpha\\\\nbeta"',
    "needl[e]",
    "ee.*a$",
    "needle lang:go",
    "type:file needle",
    r"func\s+needle",
]


@pytest.fixture(scope="module")
def many(indexed):
    """Files of every tier and score, more than a few windows of them."""
    rng = random.Random(3)
    words = ["alpha", "beta", "gamma", "needle", "Foo", "bar", "needles", "func needle("]

    def lines(count):
        return b"".join(b" ".join(choices()) + b"\n" for _ in range(count))

    def choices():
        return [rng.choice(words).encode() for _ in range(rng.randint(1, 5))]

    files = {}
    for number in range(130):
        folder = rng.choice(["src", "d3", "vendor", "test", "needle"])
        ending = rng.choice(["txt", "go", "pb.go", "needle"])
        files[b"%s/f%d.%s" % (folder.encode(), number, ending.encode())] = lines(rng.randint(0, 9))
    files[b"src/needle.go"] = b"// nothing\n"
    files[b"big.txt"] = b"".join(b"needle beta %d\n" % number for number in range(600))
    files[b"crlf.txt"] = lines(40).replace(b"\n", b"\r\n")
    files[b"latin.txt"] = b"caf\xe9 needle\n" * 20
    made = indexed(files, {**files, b"src/new.txt": lines(30)})
    made.wholes = {text: made.page(text) for text in QUERIES}
    return made


@pytest.mark.parametrize("text", QUERIES)
def test_every_query_finds_what_the_scanner_finds(many, text):
    many.check(text)


@settings(max_examples=120, deadline=None)
@given(
    text=st.sampled_from(QUERIES),
    offset=st.sampled_from([0, 1, 31, 32, 33, 100, 2_000, 5_000]),
    limit=st.sampled_from([1, 2, 31, 32, 64, 500]),
    exact=st.booleans(),
)
def test_any_window_is_that_part_of_the_whole(many, text, offset, limit, exact):
    whole = many.wholes[text]
    page = many.page(text, offset=offset, limit=limit, exact_total=exact)
    assert page.matches == whole.matches[offset : offset + limit]
    assert offset + len(page.matches) <= max(page.total, offset)
    assert page.total <= whole.total
    assert page.coverage.complete
    if page.total_is_exact or exact:
        assert (page.total, page.total_is_exact) == (whole.total, True)
    else:
        # What is told as "at least" is more than the page shows, so that another is asked for.
        assert page.total > offset + limit


@pytest.mark.parametrize("text", QUERIES)
def test_ranks_never_fall_and_each_file_stands_together(many, text):
    matches = many.wholes[text].matches
    ranks = [match.rank for match in matches]
    assert ranks == sorted(ranks)
    files = [path for path, _ in groupby(match.path for match in matches)]
    assert files
    assert len(set(files)) == len(files)


@settings(max_examples=300, deadline=None)
@given(
    text=st.sampled_from(QUERIES),
    offset=st.sampled_from([0, 0, 3, 100]),
    limit=st.sampled_from([0, 1, 5, 300, 1_000_000]),
    exact=st.booleans(),
    looks=st.integers(0, 300),
)
def test_a_deadline_at_any_moment_leaves_a_part_and_says_so(
    many, stingy, text, offset, limit, exact, looks
):
    asked = {"offset": offset, "limit": limit, "exact_total": exact}
    whole, full = many.wholes[text], many.page(text, **asked)
    page = many.page(text, **asked, budget=stingy(looks))
    assert set(page.matches) <= set(whole.matches)
    assert len(set(page.matches)) == len(page.matches)
    assert page.total <= whole.total
    assert page.total >= offset + len(page.matches) or not page.matches
    if page.total_is_exact:
        assert page == full
    elif page != full:
        assert not page.coverage.complete


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("looks", [0, 1, 2, 40, 150])
def test_a_cancelled_search_stops_and_spoils_nothing(many, text, looks):
    class Flag:
        left = looks

        def is_set(self):
            self.left -= 1
            return self.left < 0

    flag = Flag()
    try:
        page = many.page(text, budget=Budget("search", "embedded", 60.0, flag))
    except Cancelled:
        assert flag.left == -1
    else:
        assert page == many.wholes[text]
    assert many.page(text) == many.wholes[text]


@pytest.mark.parametrize("cache", [0, 50_000, 32_000_000])
def test_threads_that_search_at_once_find_what_one_finds_alone(many, cache):
    many_threads, rounds = 8, 2
    search = many.opened()
    search._texts._capacity = cache
    expected = {(text, at): many.ask(many.search, text, at) for text in QUERIES for at in range(2)}
    start = threading.Barrier(many_threads, timeout=60)

    def worker(seed):
        rng = random.Random(seed)
        asked = list(expected) * rounds
        rng.shuffle(asked)
        start.wait()
        return [key for key in asked if many.ask(search, *key) != expected[key]]

    with ThreadPoolExecutor(many_threads) as pool:
        assert list(pool.map(worker, range(many_threads))) == [[]] * many_threads
    assert search._texts._used == sum(map(len, search._texts._kept.values())) <= cache


def test_the_texts_that_are_kept_stay_below_their_bound(indexed):
    made = indexed({b"f%d" % number: b"needle %d\n" % number * 500 for number in range(60)})
    search = made.opened(cache_bytes=30_000)
    for text in ("needle", "needle 1", "[a-z]+ 5", "dle"):
        assert made.ask(search, text).total == made.ask(made.scanner, text).total
        assert search._texts._used <= 30_000
