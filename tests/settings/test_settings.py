import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.settings import Settings, load, schema, values


def stored(root: Path, text: str) -> DataDirectory:
    (root / "settings.toml").write_text(text, encoding="utf-8", newline="")
    return DataDirectory(root)


def refusal(root: Path, text: str) -> LifecycleError:
    with pytest.raises(LifecycleError) as caught:
        load(stored(root, text), {}, {})
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    return caught.value


ACCEPTED = [
    "",
    "# nothing\n",
    "[limits]\nmax_tokens = 25000\n",
    "limits.max_tokens = 1\n",
    "limits = { max_tokens = 5.0 }\n",
    "[budgets]\nread = 30\nsearch = 0.5\n",
    "[git]\nallow_http = true\nnetwork_timeout = 1e3\n",
    '[server]\naddress = "[::1]:9000"\nworkers = 4\n',
    '[server]\naddress = "localhost:0"\n',
    '[server]\naddress = "0.0.0.0:65535"\n',
    "[locks]\ntimeout = 0.1\n",
    '"limits"."max_tokens" = 77\n',
]
REFUSED = [
    "[limit]\n",
    "[limits]\nmax_token = 1\n",
    "x = 1\n",
    "limits = 3\n",
    "[[limits]]\nmax_tokens = 1\n",
    "[limits]\nmax_tokens = 0\n",
    "[limits]\nmax_tokens = 25001\n",
    "[limits]\nmax_tokens = 1.5\n",
    '[limits]\nmax_tokens = "5"\n',
    "[limits]\nmax_tokens = true\n",
    "[budgets]\nread = 0\n",
    "[budgets]\nread = -1\n",
    "[budgets]\nread = inf\n",
    "[budgets]\nread = 86401\n",
    '[git]\nallow_http = "yes"\n',
    "[git]\nallow_http = 1\n",
    '[server]\naddress = "localhost"\n',
    '[server]\naddress = "localhost:65536"\n',
    '[server]\naddress = "a b:80"\n',
    '[server]\naddress = ":80"\n',
    "[server]\nworkers = 0\n",
    "[server]\nworkers = [1]\n",
    "[locks.deep]\ntimeout = 1\n",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_file_that_is_accepted_validates_against_the_schema(tmp_path: Path, text: str) -> None:
    load(stored(tmp_path, text), {}, {})
    jsonschema.validate(tomllib.loads(text), schema(), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("text", REFUSED)
def test_a_file_that_is_refused_does_not_validate_either(tmp_path: Path, text: str) -> None:
    error = refusal(tmp_path, text)
    assert error.details["file"] == "settings.toml"
    assert error.details["line"] >= 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), schema(), jsonschema.Draft202012Validator)


def test_the_schema_is_a_schema_and_its_defaults_are_the_settings(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    defaults = {
        f"{table}.{key}": rule["default"]
        for table, content in schema()["properties"].items()
        for key, rule in content["properties"].items()
    }
    assert defaults == values(Settings())
    assert load(DataDirectory(tmp_path), {}, {}).settings == Settings()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("# a\n\n[limits]\n\nmax_token = 1\n", 5, "max_token"),
        ('[server]\naddress = """\nmax_tokens = 1\n"""\nworkrs = 1\n', 2, "address"),
        ('[server]\naddress = "a:1"\nx = """\n[limits]\n"""\n', 3, "'server.x'"),
        ("[limits]\nmax_tokens = 1\n[limitz]\n", 3, "'limitz'"),
        ("[limits]\r\nmax_tokens = 1\r\nmax_file_bytes = 0\r\n", 3, "max_file_bytes"),
        ("limits.max_tokens = 1\nlimits.nothing = 2\n", 2, "nothing"),
        ("[git]\n'allow_http' = [\n1,\n2]\n", 2, "allow_http"),
    ],
)
def test_a_refusal_names_the_line_and_the_key(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    error = refusal(tmp_path, text)
    assert error.details["line"] == line
    assert f"line {line}" in error.message
    assert words in error.message


def test_a_wrong_value_says_what_is_allowed(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[limits]\nmax_tokens = 99999\n")
    assert "from 1 to 25000" in error.message
    assert error.details["key"] == "limits.max_tokens"


def test_text_that_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in refusal(tmp_path, "[limits]\nmax_tokens = = 1\n").message


def test_not_a_number_is_refused(tmp_path: Path) -> None:
    assert "not nan" in refusal(tmp_path, "[budgets]\nread = nan\n").message


@pytest.mark.parametrize(
    "raw",
    [b"[limits]\n\xff = 1\n", b"#" * 70_000, b"x=" + b"[" * 20_000, b"\0"],
    ids=["not UTF-8", "too large", "too deep", "NUL"],
)
def test_bytes_that_are_no_settings_are_refused(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "settings.toml").write_bytes(raw)
    with pytest.raises(LifecycleError) as caught:
        load(DataDirectory(tmp_path), {}, {})
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert len(caught.value.message) < 500


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(LifecycleError, match=r"settings\.toml can't be read"):
        load(DataDirectory(tmp_path), {}, {})


def test_a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default(
    tmp_path: Path,
) -> None:
    data = stored(tmp_path, "[budgets]\nread = 1\ndiff = 1\nsearch = 1\n")
    environ = {"VACMCP_BUDGETS_DIFF": "2", "VACMCP_BUDGETS_SEARCH": "2", "VACMCP_DATA_DIR": "x"}
    loaded = load(data, environ, {"budgets.search": 3.0})
    budgets = loaded.settings.budgets
    assert (budgets.resolve, budgets.read, budgets.diff, budgets.search) == (30.0, 1.0, 2.0, 3.0)
    origins = [loaded.origins[f"budgets.{key}"] for key in ("resolve", "read", "diff", "search")]
    assert origins == ["default", "file", "environment", "flag"]
    assert loaded.origins.keys() == values(loaded.settings).keys()


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("VACMCP_LIMITS_MAX_TOKENS", "77", "limits.max_tokens", 77),
        ("VACMCP_GIT_ALLOW_HTTP", "true", "git.allow_http", True),
        ("VACMCP_GIT_ALLOW_HTTP", "0", "git.allow_http", False),
        ("VACMCP_BUDGETS_READ", "0.5", "budgets.read", 0.5),
        ("VACMCP_SERVER_ADDRESS", "127.0.0.1:0", "server.address", "127.0.0.1:0"),
    ],
)
def test_a_variable_is_read_as_its_settings_type(
    tmp_path: Path, name: str, text: str, key: str, value: Any
) -> None:
    found = values(load(DataDirectory(tmp_path), {name: text}, {}).settings)[key]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("VACMCP_LIMITS_MAX_TOKEN", "1"),
        ("VACMCP_NOTHING", "1"),
        ("VACMCP_", ""),
        ("VACMCP_LIMITS_MAX_TOKENS", "many"),
        ("VACMCP_LIMITS_MAX_TOKENS", ""),
        ("VACMCP_LIMITS_MAX_TOKENS", "1.5"),
        ("VACMCP_LIMITS_MAX_TOKENS", "1..5"),
        ("VACMCP_GIT_ALLOW_HTTP", "yes"),
        ("VACMCP_BUDGETS_READ", "nan"),
    ],
)
def test_a_variable_that_is_unknown_or_wrong_is_refused_by_its_name(
    tmp_path: Path, name: str, text: str
) -> None:
    with pytest.raises(LifecycleError) as caught:
        load(DataDirectory(tmp_path), {name: text}, {})
    assert caught.value.details["variable"] == name
    assert name in caught.value.message


@pytest.mark.parametrize(("key", "value"), [("server.port", 1), ("server.workers", "2")])
def test_a_flag_is_checked_like_everything_else(tmp_path: Path, key: str, value: Any) -> None:
    with pytest.raises(LifecycleError) as caught:
        load(DataDirectory(tmp_path), {}, {key: value})
    assert caught.value.details["key"] == key


def test_a_refused_value_is_not_echoed_at_length(tmp_path: Path) -> None:
    assert len(refusal(tmp_path, f'[server]\naddress = "{"x" * 5000}"\n').message) < 300
