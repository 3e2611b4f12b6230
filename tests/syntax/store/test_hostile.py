"""Files that were made to hurt: each costs a bounded time, and the others are answered all the same."""

import time

import pytest
from store.places import Place, said

from vacmcpd.adapters.syntax.languages import languages
from vacmcpd.adapters.syntax.making import usable

GOOD = {"good.py": b"def f():\n    g()\n\n\ndef g():\n    pass\n"}
CALL = ("good.f", "good.g", "good.py", 2, "resolved")
SUFFIXES = sorted({each.suffixes[0] for each in languages() if each.suffixes and usable(each.name)})
NESTED = 10_000


def answered(files, *, limit=64_000_000, seconds=120.0):
    place = Place(max_file_bytes=limit)
    started = time.monotonic()
    target, built = place.made({**GOOD, **files})
    assert time.monotonic() - started < seconds
    assert CALL in said(place.edges(target))
    assert built.coverage.complete
    place.verify(target, built)
    return built


def test_a_line_of_fifty_megabytes_is_too_large():
    built = answered({"line.js": b"a" * 50_000_000}, limit=32_000_000)
    assert built.coverage.skipped == {"too_large": 1}


@pytest.mark.slow
@pytest.mark.parametrize("text", [b"f(1);", b"a+", b"x=[1,2];"])
def test_a_line_of_a_megabyte_is_parsed_or_left_out(text):
    built = answered({"line.js": text * (1_000_000 // len(text))})
    assert built.coverage.files == 2


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("pair", [b"()", b"[]", b"{}"], ids=["round", "square", "curly"])
def test_ten_thousand_nested_brackets_are_parsed_or_left_out(suffix, pair):
    text = b"x = " + pair[:1] * NESTED + b"1" + pair[1:] * NESTED + b"\n"
    built = answered({f"deep{suffix}": text})
    assert set(built.coverage.skipped) <= {"too_deep", "crashed", "timeout"}


@pytest.mark.parametrize(
    "text",
    [
        b"f(" * NESTED + b")" * NESTED,
        b"if (x) " * NESTED + b"f();",
        b"a" + b".b" * NESTED + b"();",
        b"f" + b"()" * NESTED + b";",
        b"x = " + b"1 + " * NESTED + b"1;",
        b"x = " + b"a ? b : " * NESTED + b"c;",
        b"class A { m() { " * 500 + b"} }" * 500,
        b"function f() { " * 2_000 + b"}" * 2_000,
        b"<A>" * NESTED,
    ],
    ids=["calls", "ifs", "members", "called", "sums", "choices", "classes", "functions", "tags"],
)
@pytest.mark.parametrize("suffix", [".js", ".tsx", ".py", ".go", ".java"])
def test_code_that_nests_without_end_is_parsed_or_left_out(suffix, text):
    built = answered({f"deep{suffix}": text})
    known = {"too_deep", "crashed", "timeout", "unsupported_language"}
    assert set(built.coverage.skipped) <= known


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bytes_that_are_no_code_are_parsed_or_left_out(suffix):
    noise = bytes((at * 7919 + at // 251) % 255 + 1 for at in range(20_000))
    built = answered({f"noise{suffix}": noise, f"binary{suffix}": b"\x7fELF\0" + noise})
    assert built.coverage.skipped["binary"] == 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_half_a_file_is_parsed(suffix):
    built = answered({f"half{suffix}": b"class A { void f( { if (x \n def g(:\n  y = ("})
    assert built.coverage.searched == 2
    broken = [each.with_errors for each in built.languages]
    assert sum(broken) <= 1


def test_names_that_are_no_names_are_answered_as_they_are():
    files = {
        'odd"\\ dir/\xff.py': b"def f():\n    h()\n\n\ndef h():\n    pass\n",
        "a\nb.py": b"def f():\n    h()\n\n\ndef h():\n    pass\n",
    }
    place = Place()
    raw = {path.encode("latin-1"): text for path, text in files.items()}
    target, built = place.made({**GOOD, **raw})
    assert built.coverage.searched == 3
    paths = {edge.path for edge in place.edges(target)}
    assert paths == {"good.py", "a\nb.py", r'"odd\"\\ dir/\377.py"'}
    (edge,) = place.trace(target, "a\nb.py:h").edges
    assert edge.path == "a\nb.py"
