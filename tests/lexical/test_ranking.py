"""Which lines are taken for definitions, and what comes first."""

import pytest

from vacmcpd.adapters.lexical.ranking import DEFINITION, HALF_WORD, WHOLE_WORD, score_of_lines


def score(line, word="name"):
    text = line.encode()
    at = text.index(word.encode())
    return score_of_lines([(1, text, 0, len(text), at, at + len(word))])


@pytest.mark.parametrize(
    "line",
    [
        "def name(self):",
        "    async def name(self):",
        "class name:",
        "func name(a int) error {",
        "func (r *Runner) name(a int) error {",
        "type name struct {",
        "pub fn name<T>(x: T) {",
        "#define name 3",
        "const name = 3",
        "sds name(const char *init) {",
        "client *name(connection *conn) {",
        "static inline int name(void)",
        "    public static List<String> name(int x) {",
        "    protected void name(Map<String, Integer> all,",
        "unsigned long long name(int a,",
        "auto name(int a) -> int {",
    ],
)
def test_a_line_that_defines_a_name_is_taken_for_it(line):
    assert score(line) == WHOLE_WORD + DEFINITION


@pytest.mark.parametrize(
    "line",
    [
        "name(x)",
        "    name(x)",
        "return name(x)",
        "    return name(a,",
        "x = name(y)",
        "int x = name(y)",
        "sds name(const char *init);",
        "await name(x)",
        "else name(x)",
        "foo.name(x)",
        "new name(x)",
        "if (name(x)) {",
        "import name",
        "# what a name is",
        "throw name(x)",
    ],
)
def test_a_line_that_uses_a_name_is_not(line):
    assert score(line) == WHOLE_WORD


def test_a_part_of_a_word_is_worth_less():
    assert score("renamed") == 0
    assert score("names") == HALF_WORD


def test_a_hit_far_into_a_line_costs_no_look_at_all_before_it():
    assert score("x " * 200_000 + "name(y) {") == WHOLE_WORD


def test_the_definition_comes_before_uses_in_shorter_paths(indexed):
    place = indexed(
        {
            b"README.md": b"call createClient to begin\n",
            b"a.c": b"    createClient(c);\n",
            b"server.h": b"client *createClient(connection *conn);\n",
            b"src/networking.c": b"/* createClient */\nclient *createClient(connection *conn) {\n",
            b"tests/util.c": b"void createClient(void) {\n",
        }
    )
    paths = list(dict.fromkeys(match.path for match in place.page("createClient").matches))
    assert paths == ["src/networking.c", "tests/util.c", "a.c", "server.h", "README.md"]
