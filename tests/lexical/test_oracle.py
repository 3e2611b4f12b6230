"""The scanner against a slow matcher that is plainly right."""

import re
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

# Pieces that Python's re and RE2 read alike. What can match a line feed never stands in an
# alternation, so that each place of a text starts at most one kind of match.
_ONE_LINE = [
    "a",
    "b",
    "A",
    "ab",
    "a b",
    ".",
    "[ab]",
    "a+",
    "ab?",
    "a.b",
    "(a|b)b",
    "^a",
    "b$",
    "^$",
]
_PIECES = [*_ONE_LINE, "[^a]", "[^b]b", r"\sa", r"a\s+b", r"a\nb", r"\s*b", "x*"]


@dataclass(frozen=True)
class Word:
    field: str
    pattern: str

    def render(self):
        quoted = self.pattern.replace("\\", "\\\\")
        return f'{self.field}"{quoted}"'

    def holds(self, file, case):
        flags = re.MULTILINE | re.ASCII
        if case == "no" or (case == "auto" and self.pattern == self.pattern.lower()):
            flags |= re.IGNORECASE
        regex = re.compile(self.pattern, flags)
        in_name = regex.search(file.name) is not None
        lines = set() if self.field == "file:" else lines_of(regex, file.text)
        named = in_name if self.field in ("", "file:") else False
        return bool(lines) or named, lines


@dataclass(frozen=True)
class Minus:
    child: object

    def render(self):
        return "-" + self.child.render()

    def holds(self, file, case):
        return not self.child.holds(file, case)[0], set()


@dataclass(frozen=True)
class Group:
    joint: str
    children: tuple
    case: str

    def render(self):
        inside = f" {self.joint} ".join(child.render() for child in self.children)
        case = f" case:{self.case}" if self.case else ""
        return f"( {inside}{case} )"

    def holds(self, file, case):
        answers = [child.holds(file, self.case or case) for child in self.children]
        together = any if self.joint == "or" else all
        if not together(truth for truth, _ in answers):
            return False, set()
        return True, {line for truth, lines in answers if truth for line in lines}


@dataclass(frozen=True)
class Names:
    child: object

    def render(self):
        return f"( type:file {self.child.render()} )"

    def holds(self, file, case):
        return self.child.holds(file, case)[0], set()


@dataclass(frozen=True)
class File:
    name: str
    text: str


def lines_of(regex, text):
    """Try every place of the text, one by one."""
    found = set()
    for start in range(len(text) + 1):
        match = regex.match(text, start)
        if match is None:
            continue
        visible = [at for at in range(start, match.end()) if text[at] != "\n"]
        shown = visible[0] if visible else start
        if shown < len(text) or (text and not text.endswith("\n")):
            found.add(text.count("\n", 0, shown) + 1)
    return found


def expected(query, files):
    hits = []
    for name in sorted(files):
        file = File(name, files[name].replace("\r\n", "\n"))
        truth, lines = query.holds(file, "auto")
        if truth:
            hits += [(name, line) for line in sorted(lines)] or [(name, 0)]
    return hits


words = st.builds(
    Word,
    st.sampled_from(["", "content:", "file:", "regex:"]),
    st.sampled_from(_PIECES)
    | st.lists(st.sampled_from(_ONE_LINE[:11]), min_size=2, max_size=3).map("".join),
).map(lambda word: Word("", word.pattern) if word.field == "regex:" else word)
queries = st.recursive(
    words,
    lambda inner: st.one_of(
        inner.map(Minus),
        inner.map(Names),
        st.builds(
            Group,
            st.sampled_from(["", "or"]),
            st.lists(inner, min_size=1, max_size=3).map(tuple),
            st.sampled_from(["", "", "yes", "no", "auto"]),
        ),
    ),
    max_leaves=6,
)
texts = st.lists(
    st.sampled_from(["a", "b", "A", "B", "c", " ", "\n", "\n", "\r\n", "ab", "a b"]), max_size=14
).map("".join)
trees = st.dictionaries(st.sampled_from(["a", "b", "ab", "d/A", "d/b b"]), texts, min_size=1)


@settings(max_examples=500, deadline=None)
@given(query=queries, files=trees)
def test_the_scanner_finds_what_trying_every_place_finds(lab, query, files):
    assert lab(files).hits(query.render()) == expected(query, files)


@settings(max_examples=100, deadline=None)
@given(query=queries, files=trees, cuts=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_pages_of_any_size_join_to_the_whole(lab, query, files, cuts):
    place = lab(files)
    text = query.render()
    whole = place.search(text)
    joined = []
    while len(joined) < whole.total:
        page = place.search(text, len(joined), cuts[len(joined) % len(cuts)])
        assert page.matches
        assert (page.total, page.coverage) == (whole.total, whole.coverage)
        joined += page.matches
    assert joined == list(whole.matches)
