"""Another node's answer in a browser that is logged in here: it runs nothing, whatever it says of itself."""

from __future__ import annotations

import pytest

from trunkline.errors import Forbidden, NodeSilent, Unauthorized
from trunkline.server.call import DEFAULT_HEADERS
from trunkline.server.elsewhere import written_error
from trunkline.server.files.preview import preview_headers
from trunkline.server.foreign import confined

DEFAULTS = {name.encode(): value.encode() for name, value in DEFAULT_HEADERS}
POLICY = b"content-security-policy"
HTML = (b"content-type", b"text/html")


def test_what_an_owner_of_ours_says_is_passed_on_as_it_is() -> None:
    said = [(b"content-type", b"image/png"), (b"etag", b'"1"'), (b"content-length", b"5"), (b"content-range", b"bytes 0-4/9"),
            *DEFAULTS.items()]
    assert dict(confined(said, is_preview=False)) == dict(said)
    sandboxed = {**dict(said), POLICY: b"default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    assert dict(confined(list(sandboxed.items()), is_preview=False)) == sandboxed


@pytest.mark.parametrize("policy", [
    b"", b"script-src *", b"sandbox allow-scripts allow-same-origin", b"sandbox, script-src *",
    b"SandBox allow-same-origin; sandbox"])
@pytest.mark.parametrize("is_preview", [False, True])
def test_a_policy_that_lets_scripts_run_here_does_not_count(policy: bytes, is_preview: bool) -> None:
    found = dict(confined([HTML, (POLICY, policy)], is_preview=is_preview))
    assert found[POLICY] == DEFAULTS[POLICY] and found[b"x-content-type-options"] == b"nosniff"


def test_a_second_policy_counts_as_none() -> None:
    two = [HTML, (POLICY, b"sandbox; default-src 'none'"), (POLICY, b"script-src *")]
    assert dict(confined(two, is_preview=True))[POLICY] == DEFAULTS[POLICY]


@pytest.mark.parametrize("live", [False, True])
def test_a_preview_keeps_its_sandbox(live: bool) -> None:
    said = [HTML, *preview_headers("https://hub.example/preview/k/", live=live)]
    found = dict(confined(said, is_preview=True))
    assert found == {**dict(said), b"x-content-type-options": b"nosniff"}
    elsewhere = dict(confined(said, is_preview=False))
    assert b"allow-scripts" not in elsewhere[POLICY] and b"access-control-allow-origin" not in elsewhere


def test_headers_that_do_something_here_are_left_out() -> None:
    said = [(b"clear-site-data", b'"*"'), (b"service-worker-allowed", b"/"), (b"refresh", b"0; url=//evil.example"),
            (b"access-control-allow-origin", b"*"), (b"location", b"//evil.example"), (b"link", b"<x>; rel=preload")]
    assert {name for name, _ in confined(said, is_preview=False)} == {
        POLICY, b"x-content-type-options", b"cross-origin-resource-policy"}
    sandboxed = [*said, (POLICY, b"sandbox; default-src 'none'")]
    assert b"location" not in dict(confined(sandboxed, is_preview=True))
    inside = [*sandboxed, (b"location", b"/preview/k/a/")]
    assert (b"location", b"/preview/k/a/") in confined(inside, is_preview=True)


def test_no_error_of_another_node_has_clients_log_in_again() -> None:
    assert isinstance(written_error(b'{"code":"forbidden","message":"no"}'), Forbidden)
    for told in (b'{"code":"unauthorized","message":"log in"}', b"junk"):
        error = written_error(told)
        assert isinstance(error, NodeSilent) and not isinstance(error, Unauthorized)
