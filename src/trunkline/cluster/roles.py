"""What each role's key may do, and the servers' configuration that says so.

    runner   writes the journals of its own pool, answers gateways, reads the small tables; reads nobody's journal
    gateway  reads all journals, reaches every node, keeps the tables of tokens and rules; writes no journal
    hub      both
    admin    makes the streams

Rule 1: a list of what is allowed. What is not in it is refused, and so is what a later version adds until it is listed here.
Rule 2: a node's name is in what only it may publish (its lease, the end of every subject by which it speaks to others), and in
what only it may listen to (its inbox).
Rule 3: no key of a node may delete or purge: those calls name what they remove in their body, which servers do not look at.
"""

from __future__ import annotations

import secrets
from typing import Final, Literal

import msgspec

from trunkline.cluster import subjects
from trunkline.cluster.connection import check_name, inbox_prefix
from trunkline.cluster.credentials import Credentials, new_seed

Role = Literal["hub", "gateway", "runner", "admin"]
ROLES: Final[tuple[Role, ...]] = ("hub", "gateway", "runner", "admin")

FOR_ALL: Final = tuple(bucket for bucket in subjects.BUCKETS if bucket != subjects.PUSH)
"""Tables that every node reads."""
READS: Final = ("STREAM.INFO", "STREAM.MSG.GET", "DIRECT.GET")


HEAD: Final = """\
# Accounts see nothing of each other. Put this into every server's configuration file, beside listen, jetstream and (for three
# servers) server_name and cluster. The servers hold public keys only.
"""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One who may connect."""

    node: str
    role: Role
    pool: str
    public_key: str


class Permissions(msgspec.Struct, frozen=True):
    """Subjects that a key may publish and listen to."""

    publish: list[str]
    subscribe: list[str]


def new_member(node: str, role: Role, pool: str) -> tuple[Member, str]:
    """A member with a new key, and the seed that is to be kept in its file."""
    check_name("node", node)
    check_name("pool", pool)
    seed = new_seed(secrets.token_bytes(32))
    return Member(node=node, role=role, pool=pool, public_key=Credentials(seed).public_name), seed


def permissions(member: Member) -> Permissions:
    """What a member may do."""
    node, inbox = member.node, f"{inbox_prefix(member.node)}.>"
    if member.role == "admin":
        return Permissions(["$JS.API.>", "$KV.>", "tl.>"], [inbox, "tl.>"])
    publish = _shared_publish(node)
    subscribe = [inbox, f"tl.node.{node}.>", *map(subjects.live_keys, FOR_ALL), "tl.gone.>"]
    if member.role in ("runner", "hub"):
        publish += _owner_publish(member)
        subscribe += [f"tl.place.{member.pool}.*", "tl.find.*"]
    if member.role in ("gateway", "hub"):
        publish += _gateway_publish(node)
        subscribe += ["tl.live.>", subjects.live_keys(subjects.PUSH), subjects.watching("*")]
    return Permissions(publish, subscribe)


def _shared_publish(node: str) -> list[str]:
    reads = [f"$JS.API.{call}.{subjects.bucket_stream(bucket)}" for bucket in FOR_ALL for call in READS]
    looks = [f"$JS.API.STREAM.INFO.{stream}" for stream in (subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS)]
    return [*reads, *looks, "$JS.API.INFO", subjects.key(subjects.NODES, node), subjects.key(subjects.STATE, f"seen.{node}"),
            f"tl.node.*.back.*.{node}"]


def _owner_publish(member: Member) -> list[str]:
    pool = member.pool
    return [f"tl.j.{pool}.*", f"tl.b.{pool}.*.*", f"tl.k.{pool}.*", f"$JS.API.DIRECT.GET.{subjects.JOURNAL}.tl.j.{pool}.*",
            subjects.key(subjects.SESSIONS, f"{pool}.*"), subjects.key(subjects.STATE, subjects.GENERATION), f"tl.gone.{pool}.*"]


def _gateway_publish(node: str) -> list[str]:
    streams = (subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS, subjects.bucket_stream(subjects.PUSH))
    reads = [f"$JS.API.{call}.{stream}" for stream in streams for call in READS]
    return [*reads, f"$JS.API.DIRECT.GET.{subjects.JOURNAL}.tl.j.>", f"tl.node.*.*.*.{node}", f"tl.place.*.{node}",
            f"tl.find.{node}", subjects.watching(node),
            *(subjects.key(bucket, ">") for bucket in (subjects.AUTH, subjects.POLICY, subjects.STATE, subjects.PUSH))]


def server_config(account: str, members: list[Member]) -> str:
    """The part of the servers' configuration that is about one cluster: an account of its own, and a key for each member."""
    check_name("account", account)
    users = "\n".join(_user(member) for member in members)
    return f"{HEAD}accounts {{\n  {account} {{\n    jetstream: enabled\n    users: [\n{users}\n    ]\n  }}\n}}\n"


def _user(member: Member) -> str:
    may = permissions(member)
    return (f"      # {member.node}: {member.role}, pool {member.pool}\n"
            f"      {{ nkey: {member.public_key}, permissions: {{\n"
            f"          publish: {_listed(may.publish)}\n          subscribe: {_listed(may.subscribe)}\n"
            f"          allow_responses: true }} }}")


def _listed(items: list[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"
