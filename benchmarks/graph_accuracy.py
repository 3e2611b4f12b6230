"""The call graph against truth from elsewhere, beside what must be reached and who holds it.

    python benchmarks/graph_accuracy.py python FOLDER [--internal]
    python benchmarks/graph_accuracy.py go MODULE_FOLDER --static FILE --vta FILE
    python benchmarks/graph_accuracy.py java FOLDER
    python benchmarks/graph_accuracy.py javascript FOLDER

``python`` reads the layout of the PyCG micro-benchmark: folders with a ``callgraph.json`` of
{caller: [callee, …]}; with ``--internal`` FOLDER is one project with its ``callgraph.json``, and
functions of the project alone count. ``go`` compares with golang.org/x/tools' callgraph, called as

    callgraph -algo vta -format '{{.Caller}}\t{{.Callee}}\t{{.Filename}}:{{.Line}}' ./...

``java`` reads JCG's test cases: Markdown with annotated sources. ``javascript`` reads Jelly's
tests: sources with dynamic call graphs as JSON.

R counts resolved, dispatch and inferred edges, P is given per kind. A class as a callee stands for
its constructor, which the sets leave out where there is none. With ``--misses`` every edge that is
missing or wrong is printed.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vacmcpd.adapters.syntax.snapshot import graph_of
from vacmcpd.ports.graph import CallEdge, EdgeKind

Edge = tuple[str, str]
_SUREST = (EdgeKind.RESOLVED, EdgeKind.DISPATCH, EdgeKind.INFERRED, EdgeKind.EXTERNAL)

BARS = {
    "python": ("P .97 R .95", "P .99 R .97", "PyCG .976/.932"),
    "python --internal": ("R .80", "R .85", "PyCG .714, CBM .671"),
    "go": ("resolved P .99, R .88, static R .98", "1.0, .92, .99", "CBM .75 P, .85 R"),
    "java": ("R .90, resolved P .92", ".95, .97", "CHA on bytecode .867/.790"),
    "javascript": ("P .87 R .76", "P .90 R .90", "js-callgraph .875/.730, Jelly .872/.872"),
}


@dataclass
class Tally:
    """Edges of ours by kind and whether the truth has them; the truth's, and those found."""

    misses: bool
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    wanted: int = 0
    found: int = 0

    def add(self, case: str, truth: set[Edge], ours: dict[Edge, EdgeKind]) -> None:
        """Count one case; ``ours`` has the surest kind of each edge."""
        for edge, kind in sorted(ours.items()):
            (self.right if edge in truth else self.wrong)[kind] += 1
            if self.misses and edge not in truth:
                print(f"  wrong   {case}: {edge[0]} -> {edge[1]} [{kind}]")
        self.wanted += len(truth)
        self.found += len(truth & ours.keys())
        if self.misses:
            for edge in sorted(truth - ours.keys()):
                print(f"  missing {case}: {edge[0]} -> {edge[1]}")

    def show(self, name: str) -> None:
        """The figures of all cases."""
        kinds = [kind for kind in _SUREST if self.right[kind] + self.wrong[kind]]
        for kind in kinds:
            total = self.right[kind] + self.wrong[kind]
            print(f"P {kind:10} {self.right[kind] / total:.4f}  {self.right[kind]} of {total}")
        right, total = sum(self.right.values()), sum((self.right + self.wrong).values())
        print(f"P of all     {right / max(total, 1):.4f}  {right} of {total}")
        print(f"R            {self.found / max(self.wanted, 1):.4f}  {self.found} of {self.wanted}")
        show_bar(name)


def show_bar(name: str) -> None:
    must, aim, holder = BARS[name]
    print(f"must {must}; aim {aim}; now {holder}")


def sources(folder: Path, suffixes: tuple[str, ...]) -> dict[str, bytes]:
    """The files of a folder, by their paths in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (path.suffix in suffixes or path.name in suffixes)
    }


def pairs(edges: list[CallEdge], *, classes: bool = False) -> dict[Edge, EdgeKind]:
    """(caller, callee) by qualified names, with the surest kind of each."""
    found: dict[Edge, EdgeKind] = {}
    for edge in edges:
        assert edge.caller_symbol is not None
        assert edge.callee_symbol is not None
        if edge.callee_symbol.kind == "class" and not classes:
            continue
        pair = edge.caller_symbol.qualified_name, edge.callee_symbol.qualified_name
        if pair not in found or _SUREST.index(edge.kind) < _SUREST.index(found[pair]):
            found[pair] = edge.kind
    return found


def python(folder: Path, tally: Tally, *, internal: bool) -> None:
    truths = [folder / "callgraph.json"] if internal else sorted(folder.rglob("callgraph.json"))
    for path in truths:
        told = json.loads(path.read_text(encoding="utf-8"))
        truth = {(caller, callee) for caller, callees in told.items() for callee in callees}
        edges = graph_of(sources(path.parent, (".py", "pyproject.toml", "setup.cfg")))
        ours = pairs(edges)
        if internal:
            names = {callee for (_, callee), kind in ours.items() if kind is not EdgeKind.EXTERNAL}
            names |= {caller for caller, _ in ours}
            truth = {edge for edge in truth if edge[1] in names}
            ours = {
                edge: kind
                for edge, kind in ours.items()
                if kind is not EdgeKind.EXTERNAL and edge[0] in told
            }
        tally.add(path.parent.relative_to(folder).as_posix(), truth, ours)


def go_name(text: str) -> str:
    """A name of x/tools as ours: ``(*pkg.T).M`` is ``pkg.T.M``, ``f$1`` is ``f.<lambda1>``."""
    plain, depth = [], 0
    for letter in text.strip():
        depth += (letter == "[") - (letter == "]")
        if not depth and letter != "]":
            plain.append(letter)
    name = "".join(plain).replace("$bound", "").replace("$thunk", "")
    method = re.match(r"\(\*?(.*?)\)\.(.*)", name)
    name = f"{method[1]}.{method[2]}" if method else re.sub(r"\.init(?=$|\$)", "", name)
    return re.sub(r"\$(\d+)", r".<lambda\1>", name)


def go_truth(path: Path, module: str) -> set[Edge]:
    """The edges between functions of a module; package initialisers are no functions."""
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        caller, callee, *_ = line.split("\t")
        inside = all(name.lstrip("(*").startswith(module) for name in (caller, callee))
        made = callee.endswith(".init") or ".init#" in callee
        # An instance of a generic function that calls the function itself is the same one.
        itself = caller != callee and go_name(caller) == go_name(callee)
        if inside and not made and not itself:
            found.add((go_name(caller), go_name(callee)))
    return found


def go(folder: Path, static: Path, vta: Path, *, misses: bool) -> None:
    declared = re.search(r"^module\s+(\S+)", (folder / "go.mod").read_text("utf-8"), re.M)
    assert declared is not None, "go.mod names no module"
    files = sources(folder, (".go", "go.mod", "go.work"))
    edges = [edge for edge in graph_of(files) if not edge.path.endswith("_test.go")]
    ours = {pair: kind for pair, kind in pairs(edges).items() if kind is not EdgeKind.EXTERNAL}
    truth = go_truth(vta, declared[1])
    known = {name for pair in truth for name in pair}
    resolved = {pair for pair, kind in ours.items() if kind is EdgeKind.RESOLVED}
    judged = {pair for pair in resolved if pair[0] in known}
    sure = {pair for pair, kind in ours.items() if kind is not EdgeKind.INFERRED}
    certain = go_truth(static, declared[1])
    print(f"resolved P against vta  {len(judged & truth) / len(judged):.4f} of {len(judged)}")
    print(f"R static                {len(certain & ours.keys()) / len(certain):.4f}")
    print(f"R vta, with dispatch    {len(truth & sure) / len(truth):.4f} of {len(truth)}")
    print(f"R vta, with inferred    {len(truth & ours.keys()) / len(truth):.4f}")
    if misses:
        for pair in sorted(judged - truth):
            print("  wrong  ", *pair)
        for pair in sorted(truth - ours.keys()):
            print("  missing", *pair)
    show_bar("go")


_CASE = re.compile(r"^## (\S+)(.*?)(?=^## |\Z)", re.S | re.M)
_BLOCK = re.compile(r"```java\n//\s*(\S+\.java)[^\n]*\n(.*?)```", re.S)
_TOLD = re.compile(r"@DirectCall\s*\((.*?)\)\s*(?=\n|@|,|\})", re.S)
_TARGETS = re.compile(r'resolvedTargets\s*=\s*(\{[^}]*\}|"[^"]*")')


def java_cases(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """(name, sources by path) of each case."""
    for path in sorted(folder.rglob("*.md")):
        for case in _CASE.finditer(path.read_text(encoding="utf-8")):
            files = {block[1]: block[2] for block in _BLOCK.finditer(case[2])}
            if files:
                yield f"{path.stem}/{case[1]}", files


def java(folder: Path, tally: Tally) -> None:
    for name, files in java_cases(folder):
        edges = graph_of({path: text.encode() for path, text in files.items()})
        everything = "".join(files.values())
        for path, text in files.items():
            for told in _TOLD.finditer(text):
                _java_site(f"{name}:{path}", told[1], edges, everything, tally)


def _java_site(where: str, told: str, edges: list[CallEdge], everything: str, tally: Tally) -> None:
    """One annotated call: where it stands, and the classes whose method it may run."""
    called, line = re.search(r'name\s*=\s*"([^"]*)"', told), re.search(r"line\s*=\s*(\d+)", told)
    listed = _TARGETS.search(told)
    if called is None or listed is None:
        return
    path = where.rpartition(":")[2]
    site = f"{called[1]}:{line[1] if line else ''}"
    truth = set()
    for target in re.findall(r'"L([^"]*);"', listed[1]):
        owner = target.replace("/", ".").replace("$", ".")
        simple = re.escape(owner.rpartition(".")[2])
        if re.search(rf"\b(class|interface|enum|record)\s+{simple}\b", everything):
            truth.add((site, owner))
    ours: dict[Edge, EdgeKind] = {}
    for edge in edges:
        callee = edge.callee_symbol
        if edge.path != path or (line and edge.line != int(line[1])) or callee is None:
            continue
        owner, _, method = callee.qualified_name.rpartition(".")
        if callee.kind in ("class", "interface"):
            owner, method = callee.qualified_name, "<init>"
        if method == called[1] and edge.kind is not EdgeKind.EXTERNAL:
            ours.setdefault((site, owner), edge.kind)
    tally.add(where, truth, ours)


def javascript(folder: Path, tally: Tally) -> None:
    for path in sorted(folder.rglob("*.json")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue  # a test's own configuration, with comments
        if not isinstance(told, dict) or not told.get("fun2fun") or not told.get("files"):
            continue
        files = {name: path.parent / name for name in told["files"]}
        if all(file.exists() for file in files.values()):
            content = {name: file.read_bytes() for name, file in files.items()}
            tally.add(path.relative_to(folder).as_posix(), *_jelly(told, content))


def _jelly(
    told: dict[str, list[str]], files: dict[str, bytes]
) -> tuple[set[Edge], dict[Edge, EdgeKind]]:
    """Functions are told apart by the file and line where they begin; files by line 0."""
    begins = []
    for text in told["functions"]:
        parts = text.split(":") if text else []
        if len(parts) < 5 or parts[1] == "?":
            begins.append("")
            continue
        name = told["files"][int(parts[0])]
        whole = parts[1:3] == ["1", "1"] and int(parts[3]) >= files[name].count(b"\n")
        begins.append(f"{name}:{0 if whole else parts[1]}")
    named = ((begins[int(a)], begins[int(b)]) for a, b in told["fun2fun"])
    truth = {pair for pair in named if all(pair)}
    ours: dict[Edge, EdgeKind] = {}
    for edge in graph_of(files):
        ends = (edge.caller_symbol, edge.callee_symbol)
        if edge.kind is EdgeKind.EXTERNAL:
            continue
        places = [f"{s.path}:{0 if s.kind == 'module' else s.line}" for s in ends if s is not None]
        ours.setdefault((places[0], places[1]), edge.kind)
    return truth, ours


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("language", choices=["python", "go", "java", "javascript"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--internal", action="store_true")
    parser.add_argument("--static", type=Path)
    parser.add_argument("--vta", type=Path)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    tally = Tally(options.misses)
    if options.language == "go":
        if options.static is None or options.vta is None:
            parser.error("go needs --static and --vta")
        go(options.folder, options.static, options.vta, misses=options.misses)
        return
    if options.language == "python":
        python(options.folder, tally, internal=options.internal)
    elif options.language == "java":
        java(options.folder, tally)
    else:
        javascript(options.folder, tally)
    tally.show(options.language + (" --internal" if options.internal else ""))


if __name__ == "__main__":
    main()
