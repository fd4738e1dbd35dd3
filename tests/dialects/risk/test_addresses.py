"""Which addresses are this machine's, whoever reads them."""

from __future__ import annotations

from tests.tooling.rows import every_row
from trunkline.dialects.risk.addresses import file_of, is_local, scheme_of

OWN = ["localhost", "http://localhost", "HTTP://LocalHost:80/x?y#z", "localhost.", "a.b.localhost", "my_app.test", "127.0.0.1",
       "127.1", "127.255.255.254", "0", "0.0.0.0", "0x7f000001", "017700000001", "2130706433", "0x7F.1", "[::1]", "[::1]:8080",
       "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "host.docker.internal:1", "http://a:b@localhost/", "http://a@b@localhost",
       "ws://localhost:1/", "localhost:", "localhost/@scope", "localhost?x=1"]
OTHER = ["", "/", "evil.example", "localhost.evil.example", "evil.localhost.example", "http://localhost@evil.example",
         "http://localhost:80@evil.example/", "http://a@localhost:80@evil.example", "http://localhost\\@evil.example",
         "http://localhost\\.evil.example", "http://evil.example\\@localhost", "http://loc%61lhost/", "http://localhost%00.evil/",
         "http://localhost:80a/", "http://localhost:99999999/", "http://localhost:80:80/", "http://localhost {a}", "http://localhost\n",
         "http://{a,localhost}/", "http://localhost{@evil.example,}/", "http://[::1", "http://[::1]evil.example/",
         "http://[::2]/", "http://[::ffff:8.8.8.8]/", "http://[fe80::1%25lo]/", "::1", "127", "127.0.0.256", "127.0.0.1.5",
         "1.127.0.0", "0127.0.0.1", "127.0.0.1.nip.io", "0x7g", "4294967296", "256.0.0.1", "http:/localhost", "http:localhost",
         "http:///localhost", "//localhost", "http://ｌocalhost/", "http://localhost。/", "http://$HOST/", "http://localhost:$PORT/",
         "$URL", "http://localhost#@evil.example/", "http://localhost?@evil.example/", "printer.local", "http://-/", "0x",
         "http://localhost" + "a" * 5000, "ftp://localhost/", "file://localhost/x", "FILE:///x", "gopher://127.0.0.1:6379/_x",
         "dict://127.0.0.1/x", "telnet://localhost", "ldap://[::1]/", "ftp.localhost", "DICT.localhost:2628"]


@every_row("url", OWN)
def test_an_address_of_this_machine_is_known_in_every_form(url: str) -> None:
    assert is_local(url)


@every_row("url", OTHER)
def test_what_any_reader_may_take_for_another_machine_is_one(url: str) -> None:
    assert not is_local(url)


@every_row(("url", "scheme", "path"), [
    ("file:///etc/x", "file", "/etc/x"), ("file://localhost/etc/x", "file", "/etc/x"),
    ("FILE://127.0.0.1/etc/x", "file", "/etc/x"), ("file:/etc/x", "file", "/etc/x"), ("file:///etc/%78?y#z", "file", "/etc/x"),
])
def test_an_address_of_a_file_is_a_path_whatever_host_it_names(url: str, scheme: str, path: str) -> None:
    assert (scheme_of(url), file_of(url)) == (scheme, path)


def test_an_address_without_a_scheme_has_none() -> None:
    assert (scheme_of("localhost:80"), scheme_of("GOPHER://x")) == ("", "gopher")
