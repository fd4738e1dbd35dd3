"""``trunkline cluster init``: make the streams and buckets, or print what the servers are to be told.

Rule 1: it may be called again: what is there is brought to what is asked for, and nothing is deleted.
Rule 2: keys are made once. A seed that is there is used again, so that a member can be added without new keys for the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trunkline.cli.commands.cluster.reaching import reached
from trunkline.cli.common import finish, setting_flags
from trunkline.cli.hosting.clustered import check_installed
from trunkline.cli.read_settings import load
from trunkline.dialects.outside import is_whole_number
from trunkline.errors import Invalid
from trunkline.settings import Settings

_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@click.command(short_help="Make the streams of a cluster, or print its servers' configuration.")
@click.option("--replicas", type=click.Choice(["1", "3"]), default="1", help="copies of everything: 3 needs three servers  [1]")
@click.option("--journal-size", default="10G", metavar="SIZE", help="what the sessions' journals may take  [10G]")
@click.option("--parts-size", default="10G", metavar="SIZE", help="what entries over 512 KiB may take  [10G]")
@click.option("--checkpoints-size", default="1G", metavar="SIZE", help="what checkpoints may take  [1G]")
@click.option("--tables-size", default="256M", metavar="SIZE", help="what each of the small tables may take  [256M]")
@click.option("--print-config", is_flag=True, help="print the accounts and permissions for the servers' configuration file")
@click.option("--member", "members", multiple=True, metavar="NODE=ROLE[:POOL]",
              help="with --print-config: who may connect; role hub, gateway, runner or admin; repeat for more")
@click.option("--account", default="trunkline", help="with --print-config: the account's name  [trunkline]")
@click.option("--keys", type=click.Path(path_type=Path, file_okay=False), default=Path("keys"),
              help="with --print-config: folder for the members' keys, one file NODE.seed each  [keys]")
@setting_flags("cluster")
def init(**flags: Any) -> None:
    """Make the streams and buckets of a cluster, or bring them to these sizes.

    With --print-config nothing is connected to: the accounts, keys and permissions are printed that every server's configuration
    file needs, and each member's key is written to a file of its own, for --cluster-credentials.
    """
    own = {name: flags.pop(name) for name in ("replicas", "print_config", "members", "account", "keys")}
    sizes = {name: _size(name, flags.pop(f"{name}_size")) for name in ("journal", "parts", "checkpoints", "tables")}
    check_installed()
    if own["print_config"]:
        click.echo(_config(own["account"], own["members"], own["keys"]), nl=False)
        return
    finish(_make(load(flags), int(own["replicas"]), sizes))


async def _make(settings: Settings, replicas: int, sizes: dict[str, int]) -> None:
    from trunkline.cluster.streams import Sizes, configs, make_all

    async with reached(settings) as connection:
        for line in await make_all(connection, configs(replicas, Sizes(**sizes))):
            click.echo(line)


def _config(account: str, members: tuple[str, ...], keys: Path) -> str:
    from trunkline.cluster.roles import server_config

    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    return server_config(account, [_member(word, keys) for word in members or ("admin=admin", "hub=hub")])


def _member(word: str, keys: Path) -> Any:
    from trunkline.cluster.credentials import read_credentials
    from trunkline.cluster.roles import ROLES, Member, new_member
    from trunkline.disk.private_file import replace_private

    node, _, rest = word.partition("=")
    role, _, pool = rest.partition(":")
    if role not in ROLES:
        raise Invalid(f"member: expected NODE=ROLE with one of {', '.join(ROLES)}, not {word!r}")
    made, seed = new_member(node, role, pool or node)
    path = keys / f"{node}.seed"
    if path.exists():
        return Member(node=node, role=role, pool=pool or node, public_key=read_credentials(path).public_name)
    replace_private(path, f"{seed}\n".encode())
    return made


def _size(name: str, text: str) -> int:
    unit = _UNITS.get(text[-1:].lower(), 1)
    digits = text[:-1] if unit > 1 else text
    if not is_whole_number(digits) or not int(digits):
        raise Invalid(f"{name}-size: expected bytes, or a number with K, M, G or T, not {text!r}")
    return int(digits) * unit
