"""``trunkline devices``: who was paired, and how to let one go."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import click

from trunkline.cli.commands import GuessingGroup
from trunkline.cli.common import finish, print_json, print_table, setting_flags
from trunkline.cli.hosting.locate import connected, find_or_start
from trunkline.cli.read_settings import load
from trunkline.client import Client, DeviceView
from trunkline.dialects.visible import one_line
from trunkline.errors import Invalid, NotFound


@click.group(cls=GuessingGroup, invoke_without_command=True, short_help="List paired devices, or revoke one.")
@setting_flags("clients")
@click.pass_context
def command(ctx: click.Context, /, **flags: Any) -> None:
    """List paired devices, or revoke one.

    A device may be named by its name or by the beginning of its id.
    """
    ctx.obj = flags
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_devices)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
@setting_flags("clients")
def list_devices(as_json: bool = False, **flags: Any) -> None:
    """List paired devices."""

    async def work(hub: Client) -> None:
        found = await hub.devices()
        if as_json:
            print_json(found)
        else:
            print_table(("ID", "NAME", "SCOPE", "PAIRED", "LAST SEEN", "PUSH"), [_row(device) for device in found])

    finish(_with_hub(flags, work))


@command.command()
@click.argument("devices", metavar="DEVICE...", nargs=-1, required=True)
@setting_flags("clients")
def revoke(devices: tuple[str, ...], **flags: Any) -> None:
    """Unpair devices; whatever they have open ends at once."""

    async def work(hub: Client) -> None:
        for name in devices:
            device = named(await hub.devices(), name)
            await hub.revoke_device(device.id)
            click.echo(f"revoked {one_line(device.name)} ({device.id})")

    finish(_with_hub(flags, work))


def named(devices: list[DeviceView], name: str) -> DeviceView:
    """The device of this name or id, or the only one whose id begins so."""
    found = [device for device in devices if device.id == name] or [
        device for device in devices if device.name == name or device.id.startswith(name)]
    if not found:
        raise NotFound(f"no device is called {name!r}")
    if len(found) > 1:
        raise Invalid(f"{len(found)} devices are called {name!r}: name one by its id")
    return found[0]


async def _with_hub(flags: Mapping[str, Any], work: Callable[[Client], Awaitable[None]]) -> None:
    """Flags count behind the subcommand and before it."""
    before = click.get_current_context().find_object(dict) or {}
    settings = load({**before, **{key: value for key, value in flags.items() if value is not None}})
    endpoint = await find_or_start(settings, tell=True)
    async with connected(endpoint, settings) as hub:
        await work(hub)


def _row(device: DeviceView) -> tuple[str, ...]:
    seen = "now" if device.connected else _short_time(device.last_seen_at)
    return device.id, one_line(device.name), device.scope, _short_time(device.created_at), seen, "yes" if device.push else "no"


def _short_time(at: int | None) -> str:
    return "–" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
