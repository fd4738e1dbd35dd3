"""A rule about a sub-command is about it wherever the program's options stand."""

from __future__ import annotations

from tests.session.policy.ask_builders import allow, auto, decided, deny, running
from tests.tooling.rows import every_row

DENIED = deny(command=["git push*", "docker compose down*", "kubectl delete*", "npm publish*", "terraform destroy*",
                       "helm uninstall*", "aws s3 rm*", "cargo publish*", "systemctl stop*", "gcloud compute instances delete*"])


@every_row("line", [
    "docker compose --profile x down -v", "docker compose --env-file x down", "docker compose -p x down -v",
    "docker compose --parallel 4 down -v", "docker compose --ansi never down -v", "docker compose --progress plain down",
    "docker --context x compose down -v", "docker --log-level debug compose --profile=y down",
    "kubectl -v 6 delete pod y", "kubectl --as get delete pod y", "kubectl --request-timeout 5 delete pod y",
    "npm --loglevel silent publish", "npm -w x publish", "npm --registry x --tag y publish",
    "yarn --cwd x npm publish; npm -C x publish",
    "terraform -no-color destroy", "helm -n x --debug uninstall y", "aws --profile p s3 --region r rm s3://b",
    "cargo +nightly -q --config x publish", "systemctl -H host --no-pager stop x", "git -C x --no-pager push",
    "gcloud --project p compute --zone z instances delete i",
    "docker compose " + "--profile p " * 40 + "down -v", "git " + "-c a=b " * 40 + "push",
])
def test_options_that_are_known_do_not_hide_a_denied_verb(line: str) -> None:
    assert decided(running(line), DENIED, session_policy=auto(commands=True)).action == "deny"


@every_row("line", [
    "docker compose --newest x down -v", "docker --newest compose down -v", "kubectl --newest get delete pod",
    "npm --newest x publish", "aws --newest ls s3 --other x rm s3://b", "helm --newest list uninstall x",
    "systemctl --newest status stop x", "terraform -newest plan destroy",
    "docker compose " + "--newest p " * 40 + "down -v", "aws " + "--newest s3 " * 20 + "rm x",
])
def test_behind_an_option_that_nobody_knows_a_denied_verb_is_asked_about(line: str) -> None:
    assert decided(running(line), DENIED, session_policy=auto(commands=True)).action in ("ask", "deny")


@every_row("line", ["docker compose --profile down up", "kubectl -n delete get pods", "npm --tag publish test",
                    "git -C push status"])
def test_the_value_of_an_option_is_no_verb(line: str) -> None:
    assert decided(running(line), DENIED, allow(command=["docker *", "kubectl *", "npm *", "git *"])).action != "deny"
