"""A setting stands once: the table is made of the fields, and hubs and servers have the same names and defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from trunkline.hub import HubOptions
from trunkline.server.options import ServerOptions
from trunkline.settings import SETTINGS, Setting, Settings


def row(key: str) -> Setting:
    (found,) = [setting for setting in SETTINGS if setting.key == key]
    return found


def test_every_field_is_a_row_of_the_table_in_the_order_of_the_fields() -> None:
    assert [setting.key for setting in SETTINGS] == list(Settings.__struct_fields__)


def test_names_of_flags_variables_and_keys_are_unique_and_follow_one_pattern() -> None:
    for column in ("env", "flag", "toml"):
        names = [name for setting in SETTINGS if (name := getattr(setting, column))]
        assert len(set(names)) == len(names)
    assert all(setting.env == f"TRUNKLINE_{setting.key.upper()}" for setting in SETTINGS if setting.env)


def test_places_follow_from_the_name_unless_the_field_says_otherwise() -> None:
    plain, raw, agents = row("approval_timeout"), row("packets_raw"), row("agents")
    assert (plain.flag, plain.env, plain.toml) == ("--approval-timeout", "TRUNKLINE_APPROVAL_TIMEOUT", "approval_timeout")
    assert (raw.flag, raw.toml) == ("--packets-raw", "packets.raw")
    assert (agents.flag, agents.env, agents.toml) == ("--agent", None, "agents")


def test_no_secret_has_a_flag_and_the_token_is_not_in_the_file() -> None:
    assert [setting.key for setting in SETTINGS if setting.kind.secret and setting.flag] == []
    assert (row("token").flag, row("token").toml) == (None, None)


def test_a_default_is_the_fields_own_or_the_words_for_one_that_depends_on_the_environment() -> None:
    assert (row("port").default, row("open").default, row("agents").default) == (7420, True, {})
    assert row("data").default == "$XDG_DATA_HOME/trunkline"
    assert [setting.key for setting in SETTINGS if not setting.has_default] == [
        "url", "token", "agents", "allow_host", "tls_cert", "tls_key", "public_url", "trusted_proxy", "push_allow", "webhooks",
        "cluster", "cluster_credentials", "cluster_ca", "node", "pool", "labels", "gateways"]


@pytest.mark.parametrize("options", [HubOptions, ServerOptions])
def test_hubs_and_servers_have_every_setting_by_its_name_with_its_default(options: type[Settings], tmp_path: Path) -> None:
    made, plain = options(data=tmp_path), Settings(data=tmp_path)
    assert {key: getattr(made, key) for key in Settings.__struct_fields__} == {
        key: getattr(plain, key) for key in Settings.__struct_fields__}
