"""Which URLs may be cloned, and that a refused one is never repeated."""

import pytest

from vacmcpd.adapters.git.urls import check_url, parse_url
from vacmcpd.errors import LifecycleError

ALLOWED = [
    ("https://github.com/pallets/flask", "https:ssh"),
    ("https://github.com/pallets/flask.git", "https:ssh"),
    ("https://host.example:8443/a/b_c/d-e.git", "https:ssh"),
    ("HTTPS://host.example/a", "https:ssh"),
    ("https://[2001:db8::1]/a", "https:ssh"),
    ("https://[2001:db8::1]:444/a", "https:ssh"),
    ("https://gitlab.example/-/snippets/12.git", "https:ssh"),
    ("https://host.example/a%20b", "https:ssh"),
    ("https://host.example/~user/a", "https:ssh"),
    ("https://host.example/caf\N{LATIN SMALL LETTER E WITH ACUTE}", "https:ssh"),
    ("ssh://git@host.example/a/b.git", "https:ssh"),
    ("ssh://host.example:2222/~user/a", "https:ssh"),
    ("git@github.com:pallets/flask.git", "https:ssh"),
    ("host.example:srv/a.git", "https:ssh"),
    ("git@host.example:/srv/a.git", "https:ssh"),
    ("/srv/git/a.git", "file"),
    ("/srv/with space/a?b#c", "file"),
    ("file:///srv/git/a.git", "file"),
    ("file:///srv/a%20b", "file"),
    ("http://localhost/a", "http:https"),
    ("http://localhost:8000/a", "http:https"),
    ("http://127.0.0.1:1/a", "http:https"),
    ("http://127.8.9.1/a", "http:https"),
    ("http://[::1]:80/a", "http:https"),
]

SECRET = "hunter2"
REFUSED = [
    "",
    " ",
    "repo",
    "./repo",
    "../repo",
    "~/repo",
    "~user/repo",
    "a/b:c",
    "//server/share",
    "\\\\server\\share\\repo",
    "/",
    "///",
    # remote helpers and other schemes
    "ext::sh -c touch% /tmp/x",
    "ext::sh",
    "fd::17",
    "ext://sh",
    "foo::https://host.example/a",
    "git://host.example/a",
    "ftp://host.example/a",
    "git+ssh://host.example/a",
    "javascript://host.example/a",
    "https:/host.example/a",
    "https:host.example/a",
    "https//host.example/a",
    "ssh:host",
    # options
    "-",
    "--upload-pack=touch /tmp/x",
    "-u/srv/a",
    "ssh://-oProxyCommand=touch/a",
    "ssh://-oProxyCommand=touch%20x/a",
    "ssh://%2doProxyCommand=touch/a",
    "ssh://git@-oProxyCommand=x/a",
    "ssh://-x@host.example/a",
    "git@-oProxyCommand=x:a",
    "-git@host.example:a",
    "git@host.example:-x",
    "git@host.example:--upload-pack=x",
    "git@host.example:%2dx",
    "ssh://host.example/-x",
    "ssh://host.example/a/--upload-pack=x",
    "ssh://host.example/%2dx",
    "https://host.example/--upload-pack=x",
    "https://-host.example/a",
    "https://host.example/a:-x",
    # secrets
    f"https://user:{SECRET}@host.example/a",
    f"https://{SECRET}@host.example/a",
    f"https://user@{SECRET}@host.example/a",
    f"https://user:{SECRET}@[::1]/a",
    f"HTTPS://user:{SECRET}@host.example/a",
    f"http://user:{SECRET}@localhost/a",
    f"ssh://user:{SECRET}@host.example/a",
    f"user:{SECRET}@host.example:a",
    f"https://host.example/a?access_token={SECRET}",
    f"https://host.example?private={SECRET}",
    f"https://host.example/a#{SECRET}",
    f"https://host.example/a%3Fx/user:{SECRET}@b",
    f"ssh://host.example/a?token={SECRET}",
    f"git@host.example:a?token={SECRET}",
    f"file:///a?token={SECRET}",
    f"ftp://user:{SECRET}@host.example/a",
    f"https:/user:{SECRET}@host.example/a",
    f"//user:{SECRET}@host.example/a",
    # malformed authorities
    "https://",
    "https:///a",
    "https://host.example",
    "https://host.example/",
    "https://host.example:0/a",
    "https://host.example:65536/a",
    "https://host.example:99999999/a",
    "https://host.example:x/a",
    "https://ho st.example/a",
    "https://h%6fst.example/a",
    "https://host.example%00.evil/a",
    "https://host.example\\@evil.example/a",
    "https://[::1/a",
    "https://.host/a",
    "https://exa\N{CYRILLIC SMALL LETTER ER}le.com/a",
    "ssh://git@/a",
    "ssh://@host.example/a",
    "git@:a",
    "@host.example:a",
    "c:repo",
    "git@host.example:",
    "git@host.example:/",
    # characters
    "https://host.example/a\n",
    "https://host.example/a\nb",
    "https://host.example/a\tb",
    "https://host.example/a\0b",
    "https://host.example/a\x1b[2Jb",
    "https://host.example/a\x7fb",
    "https://host.example/a\u202eb",
    "https://host.example/a\u2028b",
    "https://host.example/a b",
    "https://host.example/a\\b",
    "https://host.example/a%00b",
    "https://host.example/a%0ab",
    "https://host.example/a%0Db",
    "https://host.example/a%zz",
    "https://host.example/a%",
    " https://host.example/a",
    "/srv/a\nb",
    "/srv/a\0b",
    "/srv/a ",
    "file:///srv/a%00b",
    "file:///srv/a%0ab",
    "file:///srv/%ff",
    "file://host.example/srv/a",
    "file://localhost/srv/a",
    "file:srv/a",
    "file:///",
    # http beyond this machine
    "http://host.example/a",
    "http://127.0.0.1.evil.example/a",
    "http://localhost.evil.example/a",
    "http://2130706433/a",
    "http://0.0.0.0/a",
    "http://10.0.0.1/a",
    "https://host.example/" + "a" * 3000,
]


@pytest.mark.parametrize(("url", "protocols"), ALLOWED)
def test_an_ordinary_url_may_use_its_own_transport(url: str, protocols: str) -> None:
    check_url(url, allow_http=False)
    assert parse_url(url, allow_http=False).protocols == protocols


@pytest.mark.parametrize("url", REFUSED)
def test_an_unsafe_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(LifecycleError) as refusal:
        check_url(url, allow_http=False)
    assert refusal.value.code == "INVALID_ARGUMENT"
    said = f"{refusal.value} {refusal.value.to_wire()} {refusal.value!r}"
    assert SECRET not in said
    assert len(url) < 7 or url not in said


@pytest.mark.parametrize("url", [url for url in REFUSED if not url.startswith("http://")])
def test_allowing_http_allows_nothing_else(url: str) -> None:
    with pytest.raises(LifecycleError):
        check_url(url, allow_http=True)


def test_http_to_another_machine_needs_to_be_allowed() -> None:
    check_url("http://host.example/a", allow_http=True)
    with pytest.raises(LifecycleError, match="plain http"):
        check_url("http://host.example/a", allow_http=False)


@pytest.mark.parametrize(
    ("url", "argument"),
    [
        ("/srv/a", "file:///srv/a"),
        ("/srv/a b%20?", "file:///srv/a%20b%2520%3F"),
        ("file:///srv/a%20b", "file:///srv/a%20b"),
        ("git@host.example:a", "git@host.example:a"),
    ],
)
def test_a_local_path_reaches_git_as_a_file_url(url: str, argument: str) -> None:
    assert parse_url(url, allow_http=False).argument == argument
