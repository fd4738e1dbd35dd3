"""The cluster's policy: written once, known at every node, kept while the cluster is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.aio import eventually, run
from tests.cluster.connecting import connected
from tests.cluster.tables.world import following, make_tables
from tests.cluster.test_roles import Keyed, keyed  # noqa: F401 - a fixture
from tests.server.site import Site, site
from tests.tooling.nats import NatsServer
from trunkline.cluster import jetstream, subjects
from trunkline.cluster.policy import SharedPolicy
from trunkline.errors import ClusterDenied, Conflict, Unavailable
from trunkline.session.policy.cluster import CLUSTER_POLICY_FILE, ClusterPolicy, kept_policy

DENY = '[[rules]]\nid = "no-push"\ncommand = ["git push*"]\naction = "deny"\n'
ALLOW = '[[rules]]\nid = "status"\ncommand = ["git status"]\naction = "allow"\n'


@asynccontextmanager
async def node(url: str, folder: Path, name: str) -> AsyncIterator[tuple[Site, ClusterPolicy]]:
    """A served hub whose policy is the cluster's."""
    async with connected(url, node=name) as connection:
        await make_tables(connection)
        async with site(folder) as hub, following(connection, subjects.POLICY) as table:
            path = folder / CLUSTER_POLICY_FILE
            policy = ClusterPolicy(path, name, kept_policy(path))
            SharedPolicy(table, policy)
            hub.hub.policies.join(policy)
            await eventually(lambda: policy.problem is None)
            yield hub, policy


async def explained(hub: Site, command: str) -> tuple[str, str, str]:
    answer = (await hub.ask("POST", "/policy/explain", json_body={"command": command, "cwd": "/x"})).json()
    return answer["action"], answer["source"], answer["node"]


def test_what_is_written_at_one_node_counts_at_the_other(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(nats.url, tmp_path / "one", "one") as (one, _), node(nats.url, tmp_path / "two", "two") as (two, known):
            before = (await one.ask("GET", "/policy")).json()
            assert (before["of"], before["node"]) == ("node", "one")  # nobody has written the cluster's
            written = await one.ask("PUT", "/policy?of=cluster", json_body={"text": ALLOW + DENY})
            assert (written.json()["of"], written.json()["node"]) == ("cluster", "one")
            await eventually(lambda: known.known.number == 1)
            assert await explained(two, "git status") == ("allow", "cluster policy", "two")
            own = await two.ask("PUT", "/policy?of=node", json_body={"text": DENY.replace("push", "status")})
            assert (own.json()["of"], own.json()["node"]) == ("node", "two")
            assert await explained(two, "git status") == ("deny", "policy file", "two")
            assert await explained(one, "git status") == ("allow", "cluster policy", "one")
            shown = (await two.ask("GET", "/policy")).json()
            assert shown["text"] == ALLOW + DENY and shown["path"] is None
            assert (await two.ask("GET", "/policy?of=file")).status == 400

    run(go())


def test_of_two_who_write_at_once_one_is_told_to_read_again(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(nats.url, tmp_path / "one", "one") as (_, one), node(nats.url, tmp_path / "two", "two") as (_, two):
            written = await asyncio.gather(asyncio.to_thread(one.write, ALLOW, 0), asyncio.to_thread(two.write, DENY, 0),
                                           return_exceptions=True)
            assert sorted(type(each).__name__ for each in written) == ["Conflict", "NoneType"]
            await eventually(lambda: one.known == two.known and one.known.number == 1)
            with pytest.raises(Conflict):
                await asyncio.to_thread(one.write, DENY, 0)

    run(go())


def test_the_last_known_policy_counts_while_the_cluster_is_away(nats: NatsServer, tmp_path: Path) -> None:
    async def go() -> None:
        async with node(nats.url, tmp_path / "one", "one") as (one, policy):
            assert (await one.ask("PUT", "/policy?of=cluster", json_body={"text": ALLOW + DENY})).status == 200
            nats.kill()
            assert (await explained(one, "git push"))[0] == "deny" and (await explained(one, "git status"))[0] == "allow"
            refused = await one.ask("PUT", "/policy?of=cluster", json_body={"text": ALLOW})
            assert refused.status == 503, refused.body
            await policy.saved()
        kept = kept_policy(tmp_path / "one" / CLUSTER_POLICY_FILE)
        assert kept is not None and (kept.text, kept.number, kept.node) == (ALLOW + DENY, 1, "one")

    run(go())


def test_a_runner_reads_the_policy_and_cannot_change_it(keyed: Keyed) -> None:  # noqa: F811 - the fixture
    async def go() -> None:
        async with keyed.as_("box") as box, keyed.as_("web") as web:
            async with following(box, subjects.POLICY) as its, following(web, subjects.POLICY) as theirs:
                runner, gateway = ClusterPolicy(None, "box"), ClusterPolicy(None, "web")
                SharedPolicy(its, runner)
                SharedPolicy(theirs, gateway)
                with pytest.raises(ClusterDenied, match="a gateway may"):
                    await asyncio.to_thread(runner.write, ALLOW, 0)
                await asyncio.to_thread(gateway.write, ALLOW, 0)
                await eventually(lambda: runner.known.text == ALLOW)

    run(go())


def test_without_a_connection_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        ClusterPolicy(None, "box").replace(ALLOW)


@pytest.mark.parametrize("junk", [b"\xff", b'{"number":9007199254740992,"text":""}', b'{"number":18446744073709551615,"text":""}',
                                  b'{"number":-1,"text":""}'])
def test_what_is_no_policy_in_the_table_changes_nothing_and_can_be_replaced(nats: NatsServer, tmp_path: Path, junk: bytes
                                                                            ) -> None:
    async def go() -> None:
        async with node(nats.url, tmp_path / "one", "one") as (one, policy), connected(nats.url, node="other") as other:
            assert (await one.ask("PUT", "/policy?of=cluster", json_body={"text": DENY})).status == 200
            await jetstream.publish(other, subjects.key(subjects.POLICY, "rules"), junk, {})
            await eventually(lambda: policy.problem is not None)
            assert (await explained(one, "git push"))[0] == "deny"
            assert (await one.ask("PUT", "/policy?of=cluster", json_body={"text": ALLOW})).status == 200
            await eventually(lambda: policy.problem is None and policy.known.text == ALLOW)

    run(go())
