"""Which sandbox a session gets, and what that one shows and hides here.

Rule 1: the stricter wish counts. A session may ask for a sandbox, or for one without network, that its agent's entry does not
ask for; never the other way round, also when the entry became stricter after the session was made.
Rule 2: an agent writes into its own store and sees no other agent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trunkline.agents.catalog import AgentSpec, expand, launch_command
from trunkline.agents.sandbox import Confine
from trunkline.errors import AgentNotInstalled, Invalid
from trunkline.hub.folders import guarded_folders
from trunkline.hub.shapes import HubOptions, NewSession
from trunkline.session.fold import Sandboxed
from trunkline.threads import check_off_loop

if TYPE_CHECKING:
    from trunkline.agents.sandbox.places import Wish

HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def sandbox_of(spec: AgentSpec, new: NewSession | None = None) -> Sandboxed | None:
    """What a new session runs in; Invalid where it asks for less than its agent's entry, or for half of a sandbox."""
    kind, network = (new.sandbox, new.sandbox_network) if new is not None else (None, None)
    if kind == "none" and spec.sandbox != "none":
        raise Invalid(f"sessions with {spec.display_name} run in a sandbox: its settings say so", details={"field": "sandbox"})
    if network and not spec.sandbox_network:
        raise Invalid(f"sessions with {spec.display_name} have no network: its settings say so",
                      details={"field": "sandboxNetwork"})
    if "bwrap" not in (kind, spec.sandbox):
        if network is not None:
            raise Invalid("sandboxNetwork is a part of sandbox: \"bwrap\"", details={"field": "sandboxNetwork"})
        return None
    return Sandboxed(network=spec.sandbox_network if network is None else network)


def stricter(spec: AgentSpec | None, sandbox: Sandboxed | None) -> Sandboxed | None:
    """A session's sandbox under its agent's entry as that is now."""
    if spec is None or spec.sandbox == "none":
        return sandbox
    return Sandboxed(network=spec.sandbox_network and (sandbox is None or sandbox.network))


def hidden_places(options: HubOptions) -> tuple[str, ...]:
    """What is the hub's own: its data and rules, the settings file, the key of its certificate."""
    return (*guarded_folders(options), *(str(file) for file in (options.config, options.tls_key) if file is not None))


def confined(spec: AgentSpec | None, sandbox: Sandboxed, roots: Sequence[str], env: Mapping[str, str],
             agents: Mapping[str, AgentSpec], environ: Mapping[str, str], hidden: Sequence[str]) -> Confine:
    """A session's sandbox; ``env`` is its agent's, ``environ`` the hub's."""
    from trunkline.agents.sandbox.cell import Cell  # most hubs have none

    return Cell(lambda: wish_of(spec, roots, env, agents, environ, hidden), network=sandbox.network)


def wish_of(spec: AgentSpec | None, roots: Sequence[str], env: Mapping[str, str], agents: Mapping[str, AgentSpec],
            environ: Mapping[str, str], hidden: Sequence[str]) -> Wish:
    """What a session's sandbox shows and hides: the one list, for what runs in it and for what is read and written for it. It
    looks for the agent's program on the disk."""
    check_off_loop()
    from trunkline.agents.sandbox.places import Wish

    own = list(stores(spec, env)) if spec is not None else []
    others = [path for other in agents.values() if other != spec for path in stores(other, {**environ, **other.env})]
    reads = [path for word in (spec.sandbox_reads if spec is not None else ()) if (path := expand(word, env))]
    return Wish(roots=roots, own=own, hidden=[*hidden, *(path for path in others if path not in own)], reads=reads,
                command=_command(spec, env), env=env, homes=[environ.get(name, "") for name in HOMES])


def stores(spec: AgentSpec, env: Mapping[str, str]) -> Iterator[str]:
    """Where an agent keeps what is its own; a folder ends in ``/``."""
    for named in (spec.paths.config, spec.paths.sessions, spec.paths.logs):
        path = expand(named, env)
        if path is not None:
            yield path.rstrip("/") + "/"
    for named in spec.paths.others:
        path = expand(named, env)
        if path is not None:
            yield path


def _command(spec: AgentSpec | None, env: Mapping[str, str]) -> Sequence[str]:
    if spec is None:
        return ()
    try:
        return launch_command(spec, env)
    except AgentNotInstalled:
        return spec.command  # whoever starts it says so
