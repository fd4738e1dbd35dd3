"""Variables that name code which other programs load."""

from __future__ import annotations

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects.calls.loaders import PATHS, loaded_paths, names_program


@every_row(("assignment", "paths"), [
    ("MAVEN_OPTS=-Xmx1g -javaagent:/x/a.jar", ["/x/a.jar"]),
    ("RUBYLIB=/x:../y:lib", ["/x", "../y"]),
    ("ERL_FLAGS='-pa /x'", ["/x"]),
    ("CFLAGS=-I/x -fplugin=~/p.so", ["/x", "~/p.so"]),
    ("HOME=/x", ["/x"]),
    ("GOCACHE=/x", []), ("CARGO_TARGET_DIR=/x", []), ("PATHS=/x", []), ("DATABASE_URL=sqlite:////x", []), ("NODE_PATH=src", []),
])
def test_the_paths_of_a_variable_that_loads_code_are_found(assignment: str, paths: list[str]) -> None:
    assert list(loaded_paths(assignment)) == paths


@every_row(("assignment", "is_one"), [
    ("NPM_CONFIG_SCRIPT_SHELL=x", True), ("npm_config_script_shell=x", True), ("CARGO_BUILD_RUSTC=./x", True),
    ("CARGO_TARGET_X86_64_LINKER=x", True), ("NPM_CONFIG_LOGLEVEL=error", False), ("YARN_YARN_PATH=", False), ("RUSTDOC", False),
])
def test_a_variable_whose_value_is_a_program_is_known_by_its_name(assignment: str, is_one: bool) -> None:
    assert names_program(assignment) is is_one


def test_a_long_value_takes_no_longer_than_it_is_long() -> None:
    def read() -> None:
        assert len(list(loaded_paths("JAVA_OPTS=" + "/x:" * 200_000))) == PATHS
        assert list(loaded_paths("A" * 200_000 + "_OPTS=/x")) == []
        assert list(loaded_paths("JAVA_OPTS=" + "-" * 400_000 + "/x")) in ([], ["/x"])

    assert own_s(read) < 2
