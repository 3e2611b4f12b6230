import pytest
from hypothesis import given
from hypothesis import strategies as st

from vacmcpd import paths
from vacmcpd.errors import QueryError, WireCode


@given(st.binary(min_size=1).filter(lambda raw: b"\0" not in raw))
def test_every_path_has_one_spelling_that_reads_back(raw: bytes) -> None:
    text = paths.to_text(raw)
    text.encode("utf-8")
    assert paths.to_bytes(text) == raw


@given(
    st.binary(min_size=1).filter(lambda raw: b"\0" not in raw),
    st.binary(min_size=1).filter(lambda raw: b"\0" not in raw),
)
def test_two_paths_never_share_a_spelling(one: bytes, other: bytes) -> None:
    assert (paths.to_text(one) == paths.to_text(other)) == (one == other)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain.py", "plain.py"),
        ("naïve 文.py".encode(), "naïve 文.py"),
        (b"caf\xe9.py", '"caf\\351.py"'),
        (b'"quoted"', '"\\"quoted\\""'),
        (b"back\\slash", "back\\slash"),
        (b"new\nline", "new\nline"),
    ],
)
def test_spellings(raw: bytes, text: str) -> None:
    assert paths.to_text(raw) == text
    assert paths.to_bytes(text) == raw


def test_an_unfinished_quotation_is_a_literal_name() -> None:
    assert paths.to_bytes('"half') == b'"half'


@pytest.mark.parametrize(
    ("given_path", "cleaned"),
    [
        ("./a", "a"),
        ("a//b", "a/b"),
        ("a/../b", "b"),
        ("a/", "a"),
        (".", "."),
        ("*.go", "*.go"),
        (":(top)x", ":(top)x"),
        ("a\\b", "a\\b"),
        ('"caf\\351/../x"', "x"),
    ],
)
def test_clean_normalises_and_keeps_every_character_literal(given_path: str, cleaned: str) -> None:
    assert paths.clean(given_path, "get_code") == cleaned


@pytest.mark.parametrize("hostile", ["", "  ", "/etc/passwd", "..", "../x", "a/../../x", "a\0b"])
def test_clean_refuses_what_is_not_below_the_root(hostile: str) -> None:
    with pytest.raises(QueryError) as caught:
        paths.clean(hostile, "get_code")
    assert caught.value.code is WireCode.INVALID_ARGUMENT


def test_a_lone_surrogate_is_refused_with_a_message_that_can_be_sent() -> None:
    with pytest.raises(QueryError) as caught:
        paths.clean("a\ud800", "get_code")
    caught.value.message.encode("utf-8")
    str(caught.value.details).encode("utf-8")


@given(st.text())
def test_clean_answers_or_refuses_any_text(text: str) -> None:
    refused, cleaned = None, "refused"
    try:
        cleaned = paths.clean(text, "get_code")
    except QueryError as error:
        refused = error.code
    assert refused in {None, WireCode.INVALID_ARGUMENT}
    raw = paths.to_bytes(cleaned)
    assert raw
    assert not raw.startswith((b"/", b"../"))
    assert b".." not in raw.split(b"/")
