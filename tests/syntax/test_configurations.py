"""Files that say how modules are found: what of them links anything again."""

from collections.abc import Mapping

import pytest

from vacmcpd.adapters.syntax.facts import encode
from vacmcpd.adapters.syntax.linking.link import Previous, link
from vacmcpd.adapters.syntax.snapshot import version_of

GO = {
    "go.mod": "module ex.com/m\n\ngo 1.22\n\nrequire ex.com/dep v1.0.0\n",
    "a/a.go": "package a\nfunc F() {}\n",
    "b/b.go": 'package b\nimport "ex.com/m/a"\nfunc G() { a.F() }\n',
}
JAVASCRIPT = {
    "package.json": '{"name": "m", "version": "1.0.0", "main": "lib/a.js"}',
    "lib/a.js": "exports.f = () => 1;\n",
    "lib/b.js": "const m = require('m');\nm.f();\n",
}
PYTHON = {
    "pyproject.toml": '[project]\nname = "m"\nversion = "1.0.0"\n',
    "src/m/a.py": "def f(): pass\n",
    "src/m/b.py": "from m.a import f\ndef g(): f()\n",
}
C = {
    "include/util.h": "void f(void);\nextern int version_100;\n",
    "src/a.c": "void f(void) {}\n",
    "src/b.c": '#include "util.h"\nvoid g(void) { f(); }\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "m"\nversion = "1.0.0"\n',
    "src/lib.rs": "pub mod a;\npub fn f() { crate::a::g(); }\n",
    "src/a.rs": "pub fn g() {}\n",
}


def _linked(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """How many files are linked again; the result is that of a clean link."""
    old = version_of({path: text.encode() for path, text in before.items()})
    content = {path: text.encode() for path, text in after.items()}
    new = version_of(content)
    result = link(new, Previous(old, link(old).records))
    clean = link(version_of(content))
    assert {path: encode(record) for path, record in result.records.items()} == {
        path: encode(record) for path, record in clean.records.items()
    }
    return result.linked


@pytest.mark.parametrize(
    ("files", "path", "old", "new"),
    [
        (GO, "go.mod", "v1.0.0", "v1.2.0"),
        (JAVASCRIPT, "package.json", "1.0.0", "1.0.1"),
        (RUST, "Cargo.toml", "1.0.0", "1.0.1"),
        (PYTHON, "pyproject.toml", "1.0.0", "1.0.1"),
    ],
    ids=["go.mod", "package.json", "Cargo.toml", "pyproject.toml"],
)
def test_a_new_number_links_nothing_again(
    files: dict[str, str], path: str, old: str, new: str
) -> None:
    assert old in files[path]
    assert _linked(files, {**files, path: files[path].replace(old, new)}) == 0


@pytest.mark.parametrize(
    ("files", "path", "old", "new", "reader"),
    [
        (GO, "go.mod", "ex.com/m\n", "ex.com/n\n", "b/b.go"),
        (JAVASCRIPT, "package.json", "lib/a.js", "lib/b.js", "lib/b.js"),
        (JAVASCRIPT, "package.json", '"name": "m"', '"name": "n"', "lib/b.js"),
        (RUST, "Cargo.toml", 'name = "m"', 'name = "m"\n[lib]\npath = "src/a.rs"', "src/lib.rs"),
    ],
)
def test_what_says_where_modules_are_links_its_readers_again(
    files: dict[str, str], path: str, old: str, new: str, reader: str
) -> None:
    assert old in files[path]
    assert reader in files
    assert _linked(files, {**files, path: files[path].replace(old, new)}) >= 1


def test_a_header_that_changes_links_what_reads_of_it() -> None:
    changed = C["include/util.h"].replace("version_100", "version_101")
    assert _linked(C, {**C, "include/util.h": changed}) < len(C)


def test_a_name_that_others_have_already_links_nothing_again() -> None:
    shape = "class A:\n    @property\n    def size(self): return 1\n"
    files = {"a.py": shape, "b.py": "def f(x):\n    return x.size\n", "c.py": "y = 1\n"}
    assert _linked(files, {**files, "c.py": shape.replace("A", "B")}) == 1


def test_a_package_that_gets_its_name_from_a_new_file_links_who_asked_for_it() -> None:
    files = {
        "go.mod": "module ex.com/m\n",
        "yaml.v3/z_test.go": "package yaml_test\n",
        "b/b.go": 'package b\nimport "ex.com/m/yaml.v3"\nfunc G() { yaml.F() }\n',
    }
    named = {**files, "yaml.v3/a.go": "package yaml\nfunc F() {}\n"}
    assert _linked(files, named) >= 2
    assert _linked(named, files) >= 1


@pytest.mark.parametrize(
    "files", [GO, JAVASCRIPT, RUST, PYTHON], ids=["go", "javascript", "rust", "python"]
)
def test_a_configuration_that_comes_or_goes_links_its_readers_again(files: dict[str, str]) -> None:
    path = next(iter(files))
    without = {name: text for name, text in files.items() if name != path}
    assert _linked(files, without) >= 1
    assert _linked(without, files) >= 1
