"""Which language a file is in."""

import time

import pytest

from vacmcpd.adapters.lexical.languages import canonical, language_of, near


def unread():
    raise AssertionError("the name is enough")


@pytest.mark.parametrize(
    ("path", "language"),
    [
        (b"a/b.go", "Go"),
        (b"A.PY", "Python"),
        (b"x.cpp", "C++"),
        (b"x.tsx", "TSX"),
        (b"dir/Makefile", "Makefile"),
        (b"Dockerfile", "Dockerfile"),
        (b"x.yml", "YAML"),
        (b"a.rs", "Rust"),
        (b"caf\xe9.java", "Java"),
        (b"x.unknown", None),
        (b"x.el", "Emacs Lisp"),
    ],
)
def test_a_name_tells_the_language_without_a_look_at_the_content(path, language):
    assert language_of(path, unread) == language


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        (b"a.h", b"int x;\n", "C"),
        (b"a.h", b"#pragma once\nnamespace x {\n", "C++"),
        (b"a.h", b"  public:\n", "C++"),
        (b"a.h", b"#import <X.h>\n@interface A\n", "Objective-C"),
        (b"a.m", b"#import <X.h>\n", "Objective-C"),
        (b"a.m", b"function y = f(x)\n", "MATLAB"),
        (b"a.pl", b"use strict;\n", "Perl"),
        (b"a.pl", b"parent(X) :- child(X).\n", "Prolog"),
        (b"a.pro", b"TEMPLATE = app\n", "QMake"),
        (b"a.ts", b"const x = 1\n", "TypeScript"),
        (b"a.ts", b"<?xml?>\n<!DOCTYPE TS>\n<TS>", "XML"),
        (b"a.v", b"module x;\n", "Verilog"),
        (b"a.v", b"Theorem x : y.\n", "Coq"),
        (b"run", b"#!/bin/sh\n", "Shell"),
        (b"run", b"#! /usr/bin/env -S python3.12 -u\n", "Python"),
        (b"run", b"#!/opt/node\n", "JavaScript"),
        (b"run", b"#!/bin/unheard\n", None),
        (b"LICENSE", b"text\n", None),
        (b"run", b"", None),
    ],
)
def test_content_decides_where_a_name_is_shared(path, head, language):
    assert language_of(path, lambda: head) == language


def test_names_and_aliases_are_known_in_any_case():
    assert canonical("GoLang") == canonical("go") == "Go"
    assert canonical("emacs lisp") == canonical("elisp") == "Emacs Lisp"
    assert canonical("C++") == canonical("cpp") == "C++"
    assert canonical("objective-c") == "Objective-C"
    assert canonical("klingon") is None


def test_an_unknown_name_gets_near_ones():
    assert near("pyton")[0] == "Python"
    assert "JavaScript" in near("javascrip")
    assert len(near("s")) <= 3
    assert near("\0" * 5000) == ()


@pytest.mark.parametrize(
    "head", [b"\n" * 65536, b" " * 65536, b"#!" + b"a/" * 32768, b"\t\n" * 32768, b"x:" * 32768]
)
@pytest.mark.parametrize("path", [b"a.h", b"a.m", b"a.pl", b"a.pro", b"a.ts", b"a.v", b"a"])
def test_no_content_makes_the_look_slow(head, path):
    begin = time.process_time()
    language_of(path, lambda: head)
    assert time.process_time() - begin < 5
