"""What others chose, made fit to print."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vacmcpd.cli.failures import two_lines
from vacmcpd.cli.text import redacted, safe
from vacmcpd.errors import LifecycleError, WireCode, invalid_argument


@given(st.text())
def test_safe_text_is_one_printable_line_that_encodes(text: str) -> None:
    shown = safe(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)
    shown.encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "https://me:pw@h/x",
        "https://pw@h/x",
        "HTTP://pw@h/x",
        "ssh://git:pw@h/x",
        "git:pw@h:x",
        "fatal: unable to access 'https://a:pw@h/x': no",
        "https://a:p@pw@h/x",
    ],
)
def test_no_credential_of_a_url_is_printed(text: str) -> None:
    assert "pw" not in redacted(text)
    assert "h" in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "ssh://git@h/x",
        "git@h:x",
        "file:///a/b@c",
        "/a:b/c",
        "INVALID_ARGUMENT: a@b",
        "https://h/x@v2",
        "12:30 to a@b: c",
    ],
)
def test_what_is_no_credential_is_left_alone(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("a failed; do b", ("a failed", "do b")),
        ('git said "x; y"; check it', ('git said "x; y"', "check it")),
        ("a;b; c; d", ("a;b", "c; d")),
    ],
)
def test_a_message_is_told_in_two_lines(message: str, lines: tuple[str, str]) -> None:
    assert two_lines(invalid_argument(message)) == lines


def test_a_message_without_advice_gets_some() -> None:
    for code in WireCode:
        failed, advice = two_lines(LifecycleError(code, "it failed"))  # type: ignore[arg-type]
        assert failed == "it failed"
        assert advice


def test_json_is_ascii_whatever_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    from vacmcpd.cli.failures import write_json

    write_json({"x": "\x1b\u202e\udc80é"})
    out = capsys.readouterr().out
    assert out.isascii()
    assert "\x1b" not in out
    assert json.loads(out) == {"x": "\x1b\u202e\udc80é"}
