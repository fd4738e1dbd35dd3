"""What each role's key may do, and the servers' configuration that says so.

    runner   writes the journals of its own pool, answers gateways, reads the small tables; reads nobody's journal
    gateway  reads all journals, reaches every node, keeps the tables of tokens and rules; writes no journal
    hub      both
    admin    makes the streams, and removes from them

Rule 1: a list of what is allowed. What is not in it is refused, and so is what a later version adds until it is listed here.
Rule 2: a node's name is in what only it may publish (its lease, which has its pool as well, and the end of every subject by which
it speaks to others), and in what only it may listen to (its inbox).
Rule 3: no key of a node may delete or purge: those calls name what they remove in their body, which servers do not look at.
Rule 4: the streams are in an account of their own, the members in another, which imports what they need of it. Servers
send an answer to whatever subject the question names: it comes back into the members' account, where nothing is stored
(``tests/cluster/test_facts.py``).
Rule 5: nobody ``allow_responses``: that lets a key publish wherever a message to it asks for an answer, its own messages too.
Rule 6: nobody listens to what is stored but where a stream says it again: a question to another account is heard in this one,
whatever the stream answers.
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


ANSWERS: Final = f"{inbox_prefix('*')}.*.*"
"""Where one gateway answers another: a word that only who asked knows is in it (``requests.py``)."""
HEAD: Final = """\
# Put this into every server's configuration file, beside listen, jetstream and (for three servers) server_name and cluster. What
# is stored is in an account without users; the members' account imports what it needs of that, and other accounts see nothing of
# either. The servers hold public keys only.
"""
STORE: Final = "_store"
"""What the name of the streams' account has behind that of the members: no name of an account ends so."""
SERVICES: Final = ("$JS.API.STREAM.>", "$JS.API.INFO", "tl.j.>", "tl.b.>", "tl.k.>", "$KV.>")
"""What members ask of the streams' account. Without ``INFO`` their own account would answer such calls as well."""
ANSWERED_IN_PIECES: Final = "$JS.API.DIRECT.GET.>"
SAID_AGAIN: Final = ("tl.live.>", "tl.kv.>")
PIECES_WITHIN_S: Final = 30
"""How long the way back of such an answer is kept behind its last piece; the servers' own figure is 2 minutes."""


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
        return Permissions(["$JS.API.>", "$KV.>", "tl.>"], [inbox, *SAID_AGAIN])
    publish = _shared_publish(member)
    subscribe = [inbox, f"tl.node.{node}.>", *map(subjects.live_keys, FOR_ALL)]
    if member.role in ("runner", "hub"):
        publish += _owner_publish(member)
    if member.role in ("gateway", "hub"):
        publish += _gateway_publish(node)
        subscribe += ["tl.live.>", subjects.live_keys(subjects.PUSH), subjects.watching("*")]
    return Permissions(publish, subscribe)


def _shared_publish(member: Member) -> list[str]:
    node, lease = member.node, subjects.lease_key(member.pool, member.node)
    reads = [f"$JS.API.{call}.{subjects.bucket_stream(bucket)}" for bucket in FOR_ALL for call in READS]
    looks = [f"$JS.API.STREAM.INFO.{stream}" for stream in (subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS)]
    return [*reads, *looks, "$JS.API.INFO", subjects.key(subjects.NODES, lease), subjects.key(subjects.STATE, f"seen.{node}"),
            f"tl.node.*.back.*.{node}"]


def _owner_publish(member: Member) -> list[str]:
    pool = member.pool
    return [f"tl.j.{pool}.*", f"tl.b.{pool}.*.*", f"tl.k.{pool}.*", f"$JS.API.DIRECT.GET.{subjects.JOURNAL}.tl.j.{pool}.*",
            subjects.key(subjects.SESSIONS, f"{pool}.*"), subjects.key(subjects.STATE, subjects.GENERATION)]


def _gateway_publish(node: str) -> list[str]:
    streams = (subjects.JOURNAL, subjects.PARTS, subjects.CHECKPOINTS, subjects.bucket_stream(subjects.PUSH))
    reads = [f"$JS.API.{call}.{stream}" for stream in streams for call in READS]
    return [*reads, f"$JS.API.DIRECT.GET.{subjects.JOURNAL}.tl.j.>", f"tl.node.*.*.*.{node}",
            subjects.watching(node), ANSWERS,
            *(subjects.key(bucket, ">") for bucket in (subjects.AUTH, subjects.POLICY, subjects.STATE, subjects.PUSH))]


def server_config(account: str, members: list[Member]) -> str:
    """The part of the servers' configuration that is about one cluster: an account of its own for what is stored, one for its
    members, and a key for each."""
    check_name("account", account)
    store, users = f"{account}{STORE}", "\n".join(_user(member) for member in members)
    return (f"{HEAD}accounts {{\n  {store} {{\n    jetstream: enabled\n    exports: [\n{_exports(account)}\n    ]\n  }}\n"
            f"  {account} {{\n    imports: [\n{_imports(store)}\n    ]\n    users: [\n{users}\n    ]\n  }}\n}}\n")


def _exports(account: str) -> str:
    to = f"accounts: [{account}] }}"
    pieces = f'{{ service: "{ANSWERED_IN_PIECES}", response_type: stream, threshold: "{PIECES_WITHIN_S}s", {to}'
    return "\n".join(f"      {each}" for each in (pieces, *(f'{{ service: "{subject}", {to}' for subject in SERVICES),
                                                  *(f'{{ stream: "{subject}", {to}' for subject in SAID_AGAIN)))


def _imports(store: str) -> str:
    asked = [("service", subject) for subject in (ANSWERED_IN_PIECES, *SERVICES)]
    return "\n".join(f'      {{ {kind}: {{ account: {store}, subject: "{subject}" }} }}'
                     for kind, subject in (*asked, *(("stream", subject) for subject in SAID_AGAIN)))


def _user(member: Member) -> str:
    may = permissions(member)
    return (f"      # {member.node}: {member.role}, pool {member.pool}\n"
            f"      {{ nkey: {member.public_key}, permissions: {{\n"
            f"          publish: {_listed(may.publish)}\n          subscribe: {_listed(may.subscribe)} }} }}")


def _listed(items: list[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"
