"""What git's last words mean, and that no secret is among them."""

import pytest

from vacmcpd.adapters.git.failures import GitFailed, last_line, lifecycle_error, redact

MEANINGS = [
    ("fatal: could not read Username for 'https://h': terminal prompts disabled", "AUTH_FAILED"),
    ("fatal: Authentication failed for 'https://h/a/'", "AUTH_FAILED"),
    ("git@h: Permission denied (publickey).", "AUTH_FAILED"),
    ("git@h: Permission denied, please try again.", "AUTH_FAILED"),
    ("Host key verification failed.", "AUTH_FAILED"),
    ("fatal: unable to access 'https://h/': The requested URL returned error: 403", "AUTH_FAILED"),
    ("fatal: detected dubious ownership in repository at '/srv/a'", "AUTH_FAILED"),
    ("fatal: write error: No space left on device", "NO_SPACE"),
    ("error: file write error: Disk quota exceeded", "NO_SPACE"),
    ("fatal: mismatched algorithms: client sha1; server sha256", "UNSUPPORTED_REPOSITORY"),
    ("fatal: fsck error in packed object", "UNSUPPORTED_REPOSITORY"),
    ("fatal: transport 'ext' not allowed", "UNSUPPORTED_REPOSITORY"),
    ("git: 'remote-https' is not a git command. See 'git --help'.", "UNSUPPORTED_REPOSITORY"),
    ("fatal: fetch-pack: invalid index-pack output", "UNSUPPORTED_REPOSITORY"),
    ("fatal: early EOF", "REPOSITORY_NOT_FOUND"),
    ("fatal: unable to access 'https://h/': Could not resolve host: h", "REPOSITORY_NOT_FOUND"),
    ("ERROR: Repository not found.", "REPOSITORY_NOT_FOUND"),
    ("fatal: '/srv/a' does not appear to be a git repository", "REPOSITORY_NOT_FOUND"),
    ("error: unable to create file: Permission denied", "REPOSITORY_NOT_FOUND"),
]


@pytest.mark.parametrize(("line", "code"), MEANINGS)
def test_a_line_of_gits_means_a_code_and_is_quoted(line: str, code: str) -> None:
    failure = lifecycle_error("cloning", GitFailed("fetch", 128, ["noise", line]))
    assert failure.code == code
    assert line in failure.message


def test_a_full_disk_outranks_what_follows_from_it() -> None:
    lines = [
        "fatal: write error: No space left on device",
        "fatal: early EOF",
        "fatal: fetch-pack: invalid index-pack output",
    ]
    assert lifecycle_error("cloning", GitFailed("fetch", 128, lines)).code == "NO_SPACE"


def test_the_remotes_own_words_decide_nothing() -> None:
    lines = ["remote: No space left on device", "fatal: '/a' does not appear to be a repository"]
    failure = lifecycle_error("cloning", GitFailed("fetch", 128, lines))
    assert failure.code == "REPOSITORY_NOT_FOUND"


def test_the_closing_advice_of_ssh_is_not_the_cause() -> None:
    lines = [
        "fatal: '/a' does not appear to be a git repository",
        "fatal: Could not read from remote repository.",
        "Please make sure you have the correct access rights",
        "and the repository exists.",
    ]
    assert last_line(GitFailed("fetch", 128, lines)) == lines[0]


def test_a_silent_git_is_quoted_by_its_status() -> None:
    assert "status 7" in lifecycle_error("cloning", GitFailed("fetch", 7, [])).message


@pytest.mark.parametrize(
    "text",
    [
        "fatal: unable to access 'https://user:hunter2@h/a/': no",
        "fatal: unable to access 'https://hunter2@h/a/': no",
        "fatal: unable to access 'ssh://git:hunter2@h/a/': no",
        "fatal: repository 'https://h/a?token=hunter2' not found",
        "fatal: repository 'https://h/a?hunter2' not found",
        "> Authorization: Basic hunter2",
        "> authorization: Bearer hunter2 x",
        "Proxy-Authorization: hunter2",
        "Cookie: session=hunter2",
        "remote: retry with private_token=hunter2",
        "remote: api-key=hunter2&x=1",
        "warning: redirecting to https://a:hunter2@b/c",
    ],
)
def test_a_secret_in_gits_words_is_blotted_out(text: str) -> None:
    assert "hunter2" not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "fatal: repository 'https://h/a/b.git' not found",
        "git@github.com: Permission denied (publickey).",
        "fatal: '/srv/a' does not appear to be a git repository",
    ],
)
def test_a_line_without_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_terminal_sequences_of_a_remote_do_not_survive() -> None:
    shown = redact("remote: \x1b]0;title\x07 \x1b[31mred\u202e txet")
    assert shown.isprintable()


def test_an_endless_line_is_cut() -> None:
    assert len(redact("x" * 100_000)) < 1000
