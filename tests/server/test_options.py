"""What follows from how the HTTP side of a hub is set."""

from __future__ import annotations

from pathlib import Path

from trunkline.server.options import ServerOptions


def test_a_server_with_a_certificate_serves_https(tmp_path: Path) -> None:
    assert not ServerOptions(data=tmp_path).tls
    assert ServerOptions(data=tmp_path, tls_cert=tmp_path / "cert.pem").tls


def test_the_playground_is_a_folder_of_the_hubs_own_data(tmp_path: Path) -> None:
    playground = ServerOptions(data=tmp_path).playground
    assert playground.parent == tmp_path and playground != tmp_path
