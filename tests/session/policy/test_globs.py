"""Patterns of paths and texts: what they match narrowly (to allow) and broadly (to ask or deny)."""

from __future__ import annotations

import fnmatch
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects import glob_tokens
from trunkline.errors import Invalid
from trunkline.session.policy import globs

ROOT = "/home/ann/app"
HOME = "/home/ann"

ALLOWED = [
    # pattern, path
    ("src/**", "src/a.ts"),
    ("src/**", "src/deep/er/a.ts"),
    ("src/**/*.ts", "src/a.ts"),
    ("src/**/*.ts", "src/x/y/a.ts"),
    ("src/*.ts", "src/a.ts"),
    ("src/", "src/a.ts"),
    ("**", "README.md"),
    ("**/*.md", "docs/a/b.md"),
    ("*.md", "README.md"),
    ("src/?.ts", "src/a.ts"),
    ("src/[a-c].ts", "src/b.ts"),
    ("src/[!a-c].ts", "src/d.ts"),
    ("src/*.{ts,tsx}", "src/a.tsx"),
    ("{src,test}/**", "test/a"),
    (".github/**", ".github/workflows/ci.yml"),
    ("src/.*", "src/.eslintrc"),
    ("src/**", "./src/a.ts"),
    ("./src/**", "src/a.ts"),
    ("src/**", "src//a.ts"),
    ("src/**", "src/./a.ts"),
    ("src/**", f"{ROOT}/src/a.ts"),
    ("src/**", f"file://{ROOT}/src/a.ts"),
    (f"{ROOT}/src/**", "src/a.ts"),
    ("a\\[1\\].txt", "a[1].txt"),
    ("a\\*.txt", "a*.txt"),
    (".", ROOT),
]

NOT_ALLOWED = [
    ("src/**", "lib/a.ts"),
    ("src/**", "srcs/a.ts"),
    ("src", "src/a.ts"),
    ("*.md", "docs/a.md"),
    ("src/*.ts", "src/x/a.ts"),
    ("src/**", "src"),
    ("**", ROOT),
    # escapes
    ("**", "../other/a.ts"),
    ("src/**", "src/../../../etc/passwd"),
    ("src/**", "src/../lib/a.ts"),
    ("src/**", "src/x/../a.ts"),
    ("**", "/etc/passwd"),
    ("**", "/home/ann/app2/a"),
    ("**", "/home/ann/appendix"),
    ("/**", "/etc/passwd"),
    ("/etc/**", "/etc/passwd"),
    ("**", "~/.bashrc"),
    ("**", "~/app2/x"),
    ("**", "~root/x"),
    ("**", "~"),
    ("**", "//etc/passwd"),
    ("**", "/home/ann/app/../.bashrc"),
    ("**", f"{ROOT}/./../x"),
    ("**", "file:///etc/passwd"),
    ("**", "file://localhost/etc/passwd"),
    ("**", f"file://{ROOT}/%2e%2e/x"),
    ("**", "FILE:///etc/passwd"),
    ("**", "https://example.org/x"),
    ("**", "file://elsewhere/x"),
    ("**", "..\\..\\etc\\passwd"),
    ("**", "src\\..\\x"),
    ("**", "src/a\0b"),
    ("**", "src/a\nb"),
    ("**", "src/\u202egpj.exe"),
    ("**", ""),
    ("**", "a/" * 3000),
    # case
    ("src/**", "SRC/a.ts"),
    ("src/**", "/HOME/ann/app/src/a.ts"),
    # hidden names are not meant by a wildcard
    ("**", ".env"),
    ("**", ".git/hooks/pre-commit"),
    ("**", "src/.env"),
    ("*", ".env"),
    ("?env", ".env"),
    ("[.]env", ".env"),
    ("src/**/x", "src/.hidden/x"),
]


def at(path: str) -> globs.Place:
    return globs.place(path, ROOT, HOME)


@every_row(("pattern", "path"), ALLOWED)
def test_a_pattern_allows_what_it_says(pattern: str, path: str) -> None:
    assert globs.path_allowed([pattern], at(path))


@every_row(("pattern", "path"), NOT_ALLOWED)
def test_a_pattern_allows_nothing_else(pattern: str, path: str) -> None:
    assert not globs.path_allowed([pattern], at(path))


@every_row(("patterns", "path", "allowed"), [
    (["**", "!secret/**"], "src/a", True),
    (["**", "!secret/**"], "secret/a", False),
    (["!secret/**", "**"], "secret/a", False),
    (["**", "!secret/**"], "SECRET/a", False),
    (["**", "!secret"], "secret/a/b", False),
    (["**", "!*.pem"], "deep/down/key.pem", False),
    (["!secret/**"], "src/a", False),
    ([], "src/a", False),
    (["\\!odd"], "!odd", True),
])
def test_an_exclusion_counts_wherever_it_stands(patterns: list[str], path: str, allowed: bool) -> None:
    assert globs.path_allowed(patterns, at(path)) is allowed


CONCERNED = [
    (".env", ".env"),
    (".env", "deep/down/.env"),
    (".env", ".ENV"),
    (".env", "x/../.env"),
    (".env", "../other/.env"),
    (".env", "/etc/.env"),
    ("secrets", "secrets/a/b"),
    ("secrets/", "secrets/a/b"),
    ("config/prod", "config/prod/db.yml"),
    ("**", ".git/config"),
    ("*.pem", "a/b/KEY.PEM"),
    ("/etc/**", "/etc/passwd"),
    ("/etc", "/etc/passwd"),
    ("/etc/**", "../../../etc/passwd"),
    ("/etc/**", "//etc/passwd"),
    ("~/.ssh/**", "~/.ssh/id_rsa"),
    ("~/.ssh", "/home/ann/.ssh/id_rsa"),
    ("~/.ssh", "../.ssh/id_rsa"),
    ("straße.txt", "STRASSE.TXT"),
    ("caf\u00e9", "cafe\u0301"),
    (".env", f"file://{ROOT}/.env"),
    (".env", f"file://{ROOT}/%2Eenv"),
    ("{a,b}.key", "x/b.key"),
]


@every_row(("pattern", "path"), CONCERNED)
def test_what_restricts_finds_a_path_however_it_is_spelled(pattern: str, path: str) -> None:
    assert globs.path_concerned([pattern], at(path), HOME)


@every_row(("pattern", "path"), [
    (".env", "src/env"), ("config/prod", "x/config/prod"), ("src/*.ts", "src/x/y.js"), ("/etc/**", "etc/x"),
    ("~/.ssh", "src/.ssh"),
])
def test_what_restricts_is_not_about_everything(pattern: str, path: str) -> None:
    assert not globs.path_concerned([pattern], at(path), HOME)


def test_what_restricts_leaves_out_what_it_excludes() -> None:
    assert globs.path_concerned(["**", "!src/**"], at("lib/a"))
    assert not globs.path_concerned(["**", "!src/**"], at("src/a"))
    assert globs.path_concerned(["**", "!src/**"], at("src/../lib/a"))
    assert globs.path_concerned(["**", "!src/**"], at("src/../src/a"))


def test_a_path_outside_can_only_be_named_in_full() -> None:
    assert globs.path_named(["/tmp/notes.txt"], at("/tmp/notes.txt"))
    assert not globs.path_named(["/tmp/*.txt"], at("/tmp/notes.txt"))
    assert not globs.path_named(["/tmp/{notes,x}.txt"], at("/tmp/notes.txt"))
    assert not globs.path_named(["/tmp/notes.txt"], at("/tmp/x/../notes.txt"))
    assert not globs.path_named(["/tmp/notes.txt", "!/tmp"], at("/tmp/notes.txt"))
    assert globs.path_named([globs.escape("/tmp/a[1]*.txt")], at("/tmp/a[1]*.txt"))


@every_row(("pattern", "text", "matches"), [
    ("npm test*", "npm test", True),
    ("npm test*", "npm test -- --watch", True),
    ("npm test", "npm test -- x", False),
    ("npm *", "npm", False),
    ("*", "", True),
    ("a?c", "abc", True),
    ("a?c", "ac", False),
    ("a\\*c", "a*c", True),
    ("a\\*c", "abc", False),
    ("[ -f x ]", "[ -f x ]", True),
    ("echo {a,b}", "echo {a,b}", True),
    ("*a*b*c", "xxaxxbxxc", True),
    ("*a*b*c", "xxaxxbxx", False),
    ("NPM test", "npm test", False),
])
def test_in_a_text_only_star_and_question_mark_are_special(pattern: str, text: str, matches: bool) -> None:
    assert globs.text_matches(pattern, text) is matches


def test_no_pattern_takes_long() -> None:
    def look() -> None:
        assert not globs.text_matches("*a" * 100 + "b", "a" * 5000)
        assert not globs.path_allowed(["**/a/" * 60 + "b"], at("a/" * 1000 + "c"))
        assert not globs.path_may_match(["**/x/" * 40 + "y"], "/" + "*/" * 40 + "z", ROOT)

    assert own_s(look) < 5


def test_a_pattern_that_stands_for_too_many_allows_nothing_and_concerns_everything() -> None:
    bomb = "{a,b}" * 30
    assert not globs.path_allowed([bomb], at("a" * 30))
    assert not globs.path_allowed(["**", f"!{bomb}"], at("x"))
    assert globs.path_concerned([bomb], at("x"))
    assert globs.path_may_match([bomb], "/x/*", ROOT)
    with pytest.raises(Invalid, match="more than 64"):
        globs.check_path_pattern(bomb)


@every_row(("pattern", "outline", "may"), [
    ("git push*", "git *", True),
    ("git push*", "git * --force", True),
    ("git push", "git status *", False),
    ("rm *", "npm *", False),
    ("*secret*", "cat *", True),
    ("rm *", "*", True),
    ("RM *", "rm *", True),
])
def test_an_outline_may_be_what_a_pattern_says(pattern: str, outline: str, may: bool) -> None:
    assert globs.text_may_match([pattern], outline) is may


@every_row(("pattern", "outline", "may"), [
    (".env", f"{ROOT}/.e*", True),
    (".env", f"{ROOT}/*", False),       # a shell's wildcard leaves hidden names out
    (".env", f"{ROOT}/src/*.py", False),
    (".env", "/**", True),
    ("*.pem", f"{ROOT}/*", True),
    ("secrets/**", f"{ROOT}/s*", True),
    ("secrets/**", f"{ROOT}/src/*", False),
    ("/etc/**", "/e*/passwd", True),
    ("~/.ssh", "/home/ann/.ss*/id_rsa", True),
    (".env", "/elsewhere/.en*", True),
])
def test_a_word_with_a_wildcard_may_be_a_path(pattern: str, outline: str, may: bool) -> None:
    assert globs.path_may_match([pattern], outline, ROOT, HOME) is may


TEXTS = st.text(alphabet=st.sampled_from("ab*?[]{},!\\/. é-"), max_size=12)


@given(TEXTS)
def test_an_escaped_text_matches_itself_and_nothing_else(text: str) -> None:
    pattern = globs.escape(text)
    assert globs.literal_text(pattern) == text
    assert globs.text_matches(pattern, text)
    assert not globs.text_matches(pattern, text + "x")
    assert not pattern.startswith("!")


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=8))
def test_texts_match_as_the_standard_library_says(pattern: str, text: str) -> None:
    assert globs.text_matches(pattern, text) == fnmatch.fnmatchcase(text, pattern)


@given(st.text(alphabet="ab*?", max_size=6), st.text(alphabet="ab*?", max_size=6), st.text(alphabet="ab", max_size=6))
def test_two_patterns_that_share_a_text_may_match(one: str, other: str, text: str) -> None:
    if fnmatch.fnmatchcase(text, one) and fnmatch.fnmatchcase(text, other):
        assert globs.text_may_match([one], other)


@given(st.lists(st.sampled_from(["..", ".", "", "a", "~", "src", "etc"]), max_size=8), st.booleans())
def test_what_is_allowed_is_inside_the_root_by_any_reading(parts: list[str], absolute: bool) -> None:
    path = ("/" if absolute else "") + "/".join(parts)
    where = at(path)
    if globs.path_allowed(["**", ".", "/**"], where):
        assert ".." not in path.split("/")
        assert where.absolute == ROOT or where.absolute.startswith(ROOT + "/")


@every_row(("pattern", "good"), [
    ("x" * 1000, True), ("*" + "x" * 999, True), ("x" * 16_384, True), ("\\*" * 8_000, True), ("!" + "x" * 2000, True),
    ("*" + "x" * 1000, False), ("x" * 16_385, False), ("?" * 1001, False), ("", False), ("!", False),
])
def test_a_pattern_is_long_only_where_it_is_one_text_word_for_word(pattern: str, good: bool) -> None:
    for check in (globs.check, globs.check_path_pattern):
        if good:
            check(pattern)
        else:
            with pytest.raises(Invalid, match="without wildcards"):
                check(pattern)


def test_a_long_pattern_of_paths_has_no_braces_and_no_classes() -> None:
    for wild in ("{a,b}", "[ab]"):
        globs.check(wild + "x" * 1000)
        with pytest.raises(Invalid):
            globs.check_path_pattern(wild + "x" * 1000)


def test_whether_a_long_command_may_be_a_long_pattern_is_known_at_once() -> None:
    long = "echo " + "ab" * 8_000
    assert globs.text_may_match([long], "echo *" + "ab" * 30_000) is False
    assert globs.text_may_match([long], "echo *" + "ab" * 4_000) is True
    assert globs.text_may_match([long.upper()], "* *b") is True


@given(st.text("ab*?", max_size=12), st.text("ab", max_size=12))
def test_a_long_text_fits_an_outline_as_a_short_one_does(outline: str, text: str) -> None:
    assert glob_tokens.fills(glob_tokens.text_tokens(outline), text) == globs.text_matches(outline, text)


def test_what_long_texts_become_is_not_kept() -> None:
    """Six commands of two megabytes left 236 MB behind: a cache is counted in entries, and an entry had no bound."""
    tracemalloc.start()
    try:
        for number in range(2):
            text = f"{number}" + "a" * 100_000
            assert len(glob_tokens.text_tokens(text)) == len(glob_tokens.path_tokens(text)) == len(text)
            assert glob_tokens.segments_of(text) and globs.folded(text) == text
            del text
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 200_000
    assert glob_tokens.text_tokens("short *") is glob_tokens.text_tokens("short *"), "and short ones are"
