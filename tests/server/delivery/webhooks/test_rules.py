"""The tables of webhooks: what is taken, what is refused, and that no secret is shown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.tooling.rows import every_row
from trunkline.cli.read_settings import load
from trunkline.errors import Invalid
from trunkline.server.delivery.webhooks.rules import OCCASIONS, webhooks_from

SECRET = "sesame, sesame, open"
GOOD = {"url": "https://hooks.example/x", "secret": SECRET}


def test_a_table_with_an_address_and_a_secret_is_enough() -> None:
    (hook,) = webhooks_from([GOOD])
    assert (hook.url, hook.secret, hook.events, hook.agents, hook.after_s, hook.allow) == (
        "https://hooks.example/x", SECRET.encode(), OCCASIONS, (), 5.0, ())
    assert all(hook.wants(occasion, "any") for occasion in OCCASIONS)


def test_a_rule_narrows_to_events_and_agents() -> None:
    (hook,) = webhooks_from([{**GOOD, "events": ["approval", "cap"], "agents": ["one"], "after_s": 30, "allow": ["10.1.2.3/8"]}])
    assert (hook.wants("approval", "one"), hook.wants("approval", "two"), hook.wants("finished", "one")) == (True, False, False)
    assert (hook.after_s, [str(each) for each in hook.allow]) == (30.0, ["10.0.0.0/8"])


def test_a_secret_in_the_standard_form_is_decoded() -> None:
    (hook,) = webhooks_from([{**GOOD, "secret": "whsec_" + base64.b64encode(b"x" * 24).decode()}])
    assert hook.secret == b"x" * 24


@every_row(("change", "complaint"), [
    ({"url": "ftp://x/"}, "url must look like"), ({"url": "https:///x"}, "url must"), ({"url": "https://x:99999/"}, "url must"),
    ({"url": "https://user:pw@x/"}, "user or password"), ({"url": "https://x/ä"}, "ASCII"), ({"url": "https://x/a b"}, "spaces"),
    ({"url": "https://x/\x01"}, "ASCII"), ({"url": "https://x/\n"}, "ASCII"),
    ({"secret": "short"}, "at least 16"), ({"secret": "whsec_!!"}, "not base64"), ({"secret": 5}, "secret"),
    ({"events": []}, "at least one"), ({"events": ["everything"]}, "everything"), ({"after_s": -1}, "after_s"),
    ({"allow": ["intranet"]}, "allow: 'intranet'"), ({"retries": 3}, "retries"), ({"agents": "one"}, "agents"),
])
def test_a_table_that_cannot_be_used_is_refused_by_number_and_key(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as caught:
        webhooks_from([GOOD, {**GOOD, **change}])
    assert str(caught.value).startswith("the webhook 2: ")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("tables", ["x", {"url": "x"}, [3], 5])
def test_what_is_no_list_of_tables_is_refused(tables: Any) -> None:
    with pytest.raises(ValueError, match=r"\[\[webhooks\]\]"):
        webhooks_from(tables)


def test_the_settings_file_holds_them_and_no_complaint_shows_the_secret(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    env = {"HOME": "/home/somebody", "TRUNKLINE_CONFIG": str(file)}
    file.write_text(f'public_url = "https://hub.example/"\n[[webhooks]]\nurl = "https://hooks.example/x"\nsecret = "{SECRET}"\n')
    settings = load({}, env)
    assert ([hook.host for hook in settings.webhooks], settings.public_url) == (["hooks.example"], "https://hub.example")
    assert SECRET not in repr(settings)
    file.write_text(f'[[webhooks]]\nurl = "nowhere"\nsecret = "{SECRET}"\n')
    with pytest.raises(Invalid, match=r"webhooks: the webhook 1: url must look like .*config\.toml") as caught:
        load({}, env)
    assert SECRET not in caught.value.message


@every_row("address", ["hub.example", "https://", "https://hub.example/?x", "https://hub.example/#/a", "ftp://x"])
def test_a_public_address_that_no_link_can_begin_with_is_refused(address: str) -> None:
    with pytest.raises(Invalid, match="public_url: expected an address"):
        load({"public_url": address}, {"HOME": "/home/somebody"})
