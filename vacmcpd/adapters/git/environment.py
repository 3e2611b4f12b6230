"""What a git child process is told, whatever the user's environment and configuration say.

Two profiles. ``NETWORK`` leaves the user's configuration readable, because credential helpers,
ssh commands, proxies and certificates live there; single keys that could run something or change
what is fetched are overridden. ``LOCAL`` reads no configuration but the repository's own.
"""

import os
import sys
from enum import StrEnum


class Profile(StrEnum):
    """Which configuration a git command may read."""

    NETWORK = "network"
    LOCAL = "local"


_PASSED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "TMPDIR",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
        "SSH_AUTH_SOCK",
        "SSH_AGENT_PID",
        "GNUPGHOME",
        "KRB5CCNAME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
    }
)
# The user's own way in. They name programs, so only the network profile sees them.
_PASSED_TO_NETWORK = frozenset(
    {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}
)
_PASSED_ON_WINDOWS = frozenset(
    {
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PATHEXT",
        "TEMP",
        "TMP",
        "USERPROFILE",
        "USERNAME",
        "HOMEDRIVE",
        "HOMEPATH",
        "APPDATA",
        "LOCALAPPDATA",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "ALLUSERSPROFILE",
    }
)

_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    # Set but empty: git then asks no helper program, neither core.askPass nor SSH_ASKPASS.
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_PAGER": "cat",
}

_EVERYWHERE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.askPass=",
    "core.symlinks=false",
    "core.fsync=committed,reference",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
_ON_THE_NETWORK = (
    "credential.interactive=false",
    "fetch.recurseSubmodules=no",
    "fetch.writeCommitGraph=false",
    "transfer.bundleURI=false",
    "http.followRedirects=initial",
    # Below one byte a second for two minutes is a dead peer; git's keepalives are slower than 1 kB.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=120",
    # fetch.* outranks transfer.*, so a user's own fetch.fsckObjects=false would win otherwise.
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    # unpack-objects knows no list of tolerated findings, index-pack does; 1 always chooses it.
    "fetch.unpackLimit=1",
)
# What git's strict checks find in old, harmless history: flask, redis and many others have it.
TOLERATED = (
    "zeroPaddedFilemode",
    "badTimezone",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "badDate",
    "badDateOverflow",
    "missingEmail",
    "missingNameBeforeEmail",
    "badName",
    "missingTaggerEntry",
)
_SSH = "ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=30"


def environment(
    profile: Profile, protocols: str = "", ssh_configured: bool = False
) -> dict[str, str]:
    """The whole environment of one git process.

    ``protocols`` is git's colon-separated list of transports that may be used, none by default;
    it outranks every ``protocol.*`` setting. ``ssh_configured``: the user's configuration names
    an ssh command, which the batch-mode one must not replace.
    """
    allowed = _PASSED | (_PASSED_TO_NETWORK if profile is Profile.NETWORK else frozenset())
    if sys.platform == "win32":
        allowed |= _PASSED_ON_WINDOWS
    passed = {name: value for name, value in os.environ.items() if name in allowed}
    fixed = {**_FIXED, "GIT_ALLOW_PROTOCOL": protocols or "none"}
    if profile is Profile.LOCAL:
        fixed |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    elif not ssh_configured and not {"GIT_SSH", "GIT_SSH_COMMAND"} & passed.keys():
        fixed["GIT_SSH_COMMAND"] = _SSH
    return passed | fixed


def overrides(profile: Profile) -> list[str]:
    """The ``-c`` options that outrank every configuration file."""
    keys = list(_EVERYWHERE)
    if profile is Profile.NETWORK:
        keys += _ON_THE_NETWORK
        keys += [f"fetch.fsck.{name}=warn" for name in TOLERATED]
    return [word for key in keys for word in ("-c", key)]
