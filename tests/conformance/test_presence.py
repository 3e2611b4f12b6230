"""In CI nothing that can be had is allowed to be missing."""

import os
import shutil

import pytest


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="only CI must have every tool")
def test_ci_has_what_the_tests_need() -> None:
    assert os.environ.get("MCP_CONFORMANCE_HOME"), "the conformance suite"
    assert shutil.which("systemd-analyze"), "systemd"
    assert shutil.which("git"), "git"
