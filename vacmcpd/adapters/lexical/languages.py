r"""Which language a file is in: by name, by extension and, for six extensions, by content.

The names are those of GitHub's Linguist, which Zoekt's ``lang:`` speaks too. The table is ours and
short: what is not in it has no language. Content decides only where one extension is shared:
``.h`` (C, C++, Objective-C), ``.m`` (Objective-C, MATLAB), ``.pl`` (Perl, Prolog), ``.ts``
(TypeScript, XML of Qt), ``.v`` (Verilog, Coq), ``.pro`` (Prolog, QMake), and for a file without an
extension its ``#!`` line.
"""

import difflib
import posixpath
import re
from collections.abc import Callable

HEAD = 64 * 1024
"""Bytes of a file that decide its language."""
Head = Callable[[], bytes]
"""Gives the beginning of the file as UTF-8, or nothing when its content is not read."""

# name: aliases | extensions and whole file names
_TABLE = """
Ada: ada95 ada2005 | .adb .ads
Assembly: asm nasm | .asm .s .nasm
Batchfile: bat batch dosbatch | .bat .cmd
C: | .c .idc
C#: csharp cs cake | .cs .csx .cake
C++: cpp cplusplus cxx | .cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .ipp .inl .tpp
CMake: | .cmake CMakeLists.txt
CSS: | .css
CUDA: cuda | .cu .cuh
Clojure: clj | .clj .cljs .cljc .edn
CoffeeScript: coffee | .coffee
Common-Lisp: lisp | .lisp .lsp .cl .asd
Coq: |
Crystal: | .cr
D: dlang | .d
Dart: | .dart
Dockerfile: docker containerfile | .dockerfile Dockerfile Containerfile
Elixir: ex | .ex .exs
Elm: | .elm
Emacs-Lisp: elisp emacs | .el
Erlang: | .erl .hrl .escript rebar.config
F#: fsharp fs | .fs .fsi .fsx
Fortran: | .f .for .f77 .f90 .f95 .f03 .f08
Go: golang | .go
Gradle: | .gradle
GraphQL: | .graphql .gql
Groovy: | .groovy .gvy Jenkinsfile
HCL: terraform tf hcl2 | .hcl .tf .tfvars .nomad
HTML: xhtml | .html .htm .xhtml
Haskell: hs | .hs .hsc
INI: dosini | .ini .cfg .properties .editorconfig .gitconfig
JSON: | .json .jsonl .geojson .webmanifest composer.lock
Java: | .java .jav
JavaScript: js node jsx | .js .mjs .cjs .jsx .es6
Julia: jl | .jl
Kotlin: kt | .kt .kts
Less: | .less
Lua: | .lua .rockspec
MATLAB: octave | .matlab
Makefile: make mf bsdmake | .mk .mak Makefile GNUmakefile makefile
Markdown: md pandoc | .md .markdown .mdown .mkd
Nim: | .nim .nims .nimble
Nix: nixos | .nix
OCaml: ml | .ml .mli .mll .mly
Objective-C: objc obj-c objectivec | .m
Objective-C++: objc++ obj-c++ | .mm
PHP: inc | .php .phtml .php3 .php4 .php5 .inc
Pascal: delphi objectpascal | .pas .dpr .lpr .pp
Perl: cperl | .pl .pm .pod .psgi cpanfile
PowerShell: posh pwsh | .ps1 .psm1 .psd1
Prolog: | .prolog .yap
Protocol-Buffer: protobuf proto protocol-buffers | .proto
Python: py python3 | .py .pyi .pyw .bzl BUILD WORKSPACE SConstruct wscript
QMake: | .pri
R: rlang rscript splus | .r .rd
reStructuredText: rst | .rst .rest
Ruby: rb jruby rake | .rb .rake .gemspec .ru Rakefile Gemfile Vagrantfile Podfile
Rust: rs | .rs
SCSS: | .scss
SQL: | .sql .ddl
Sass: | .sass
Scala: | .scala .sbt .sc
Scheme: | .scm .ss .sld
Shell: sh bash zsh shell-script ksh | .sh .bash .zsh .ksh .bats .bashrc .profile
Solidity: | .sol
Starlark: bazel | .star BUILD.bazel WORKSPACE.bazel
Svelte: | .svelte
Swift: | .swift
SystemVerilog: | .sv .svh
TOML: | .toml Cargo.lock poetry.lock
TSX: | .tsx
Tcl: | .tcl .tk
TeX: latex | .tex .sty .cls .bib
Text: fundamental plain | .txt .text
TypeScript: ts | .ts .mts .cts
VHDL: | .vhd .vhdl
Verilog: | .v .vh
Vim-Script: vim viml vimscript nvim | .vim .vimrc
Visual-Basic-.NET: vb vbnet vb.net | .vb
Vue: | .vue
XML: rss xsd wsdl svg | .xml .xsd .xsl .xslt .wsdl .svg .plist .csproj .pom
YAML: yml | .yml .yaml .clang-format .clang-tidy
Zig: | .zig
"""

_INTERPRETERS = {
    "bash": "Shell",
    "dash": "Shell",
    "escript": "Erlang",
    "ksh": "Shell",
    "lua": "Lua",
    "make": "Makefile",
    "node": "JavaScript",
    "perl": "Perl",
    "php": "PHP",
    "python": "Python",
    "ruby": "Ruby",
    "Rscript": "R",
    "runhaskell": "Haskell",
    "sh": "Shell",
    "tclsh": "Tcl",
    "zsh": "Shell",
}
_FIRST_LINE = 200
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?([A-Za-z]+)")


def _sign(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)


# Per shared extension: the first of these whose sign is in the content, else the last.
# No sign crosses a line end or nests repetitions, so that a hostile file costs linear time.
_SHARED: dict[str, tuple[tuple[re.Pattern[bytes] | None, str], ...]] = {
    ".h": (
        (_sign(rb"^[ \t]*(?:@(?:interface|protocol|class|end)\b|#import\b)"), "Objective-C"),
        (_sign(rb"^[ \t]*(?:class\s\w|namespace\b|template\b|using\s\w)|\bstd::"), "C++"),
        (_sign(rb"^[ \t]*(?:public|private|protected):"), "C++"),
        (None, "C"),
    ),
    ".m": (
        (_sign(rb"^[ \t]*(?:@(?:interface|implementation|import|class)\b)"), "Objective-C"),
        (_sign(rb"^[ \t]*#(?:import|include)\b"), "Objective-C"),
        (_sign(rb"^[ \t]*(?:%|function\b|classdef\b)"), "MATLAB"),
        (None, "Objective-C"),
    ),
    ".pl": (
        (_sign(rb"^[ \t]*(?:use\s(?:strict|warnings|v?5)|package\s|sub\s|my\s)"), "Perl"),
        (_sign(rb"^#!.*perl"), "Perl"),
        (_sign(rb"^[^#%\n]*:-"), "Prolog"),
        (None, "Perl"),
    ),
    ".pro": (
        (_sign(rb"^[^#\n]*:-"), "Prolog"),
        (None, "QMake"),
    ),
    ".ts": (
        (_sign(rb"<TS\b|<!DOCTYPE TS>"), "XML"),
        (None, "TypeScript"),
    ),
    ".v": (
        (_sign(rb"^[ \t]*(?:Require|Theorem|Lemma|Proof|Inductive|Definition|Qed)\b"), "Coq"),
        (None, "Verilog"),
    ),
}


_DASHED = frozenset({"Objective-C", "Objective-C++"})


def _read_table() -> tuple[dict[str, str], dict[str, str]]:
    names: dict[str, str] = {}
    files: dict[str, str] = {}
    for line in _TABLE.strip().splitlines():
        name, _, rest = line.partition(": ")
        aliases, _, endings = rest.partition("|")
        shown = name if name in _DASHED else name.replace("-", " ")
        for alias in (name, shown, *aliases.split()):
            names[alias.lower()] = shown
        for ending in endings.split():
            files[ending] = shown
    return names, files


_NAMES, _FILES = _read_table()


def canonical(name: str) -> str | None:
    """The language of this name or alias, in any case; None when there is none."""
    return _NAMES.get(name.strip().lower())


def near(name: str) -> tuple[str, ...]:
    """At most three languages whose names or aliases look like ``name``, best first."""
    found = difflib.get_close_matches(name.strip().lower()[:60], _NAMES, n=6, cutoff=0.5)
    return tuple(dict.fromkeys(_NAMES[alias] for alias in found))[:3]


def language_of(path: bytes, head: Head) -> str | None:
    """The language of the file at ``path``; ``head`` is asked only when the name can't tell."""
    name = posixpath.basename(path).decode("utf-8", "replace")
    if name in _FILES:
        return _FILES[name]
    extension = posixpath.splitext(name)[1].lower()
    if extension in _SHARED:
        return _by_signs(_SHARED[extension], head())
    if not extension:
        return _by_shebang(head())
    return _FILES.get(extension)


def sign_of(path: bytes) -> str:
    """What of the name makes content decide: a shared extension, ``#!`` for none, "" otherwise.

    Two files with one content and one sign are in one language.
    """
    name = posixpath.basename(path).decode("utf-8", "replace")
    if name in _FILES:
        return ""
    extension = posixpath.splitext(name)[1].lower()
    if not extension:
        return "#!"
    return extension if extension in _SHARED else ""


def _by_signs(signs: tuple[tuple[re.Pattern[bytes] | None, str], ...], head: bytes) -> str | None:
    for sign, language in signs:
        if sign is None or sign.search(head):
            return language
    return None


def _by_shebang(head: bytes) -> str | None:
    found = _SHEBANG.match(head[:_FIRST_LINE])
    return _INTERPRETERS.get(found[1].decode("ascii")) if found else None
