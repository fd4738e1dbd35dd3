"""The cryptography of Web Push: the RFC's own example, and a receiver that was written apart from it."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tooling.examples import examples
from tests.tooling.push_service import Browser, Pushed, PushService, check_sender
from tests.tooling.rows import every_row
from trunkline.server.delivery.push.crypt import (
    PLAIN_MOST,
    b64,
    check_point,
    encrypt,
    message_keys,
    new_private_key,
    public_point,
    shared_secret,
    unb64,
    vapid_header,
)

# RFC 8291, section 5 and appendix A
PLAIN = b"When I grow up, I want to be a watermelon"
SENDER_PRIVATE = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SENDER_POINT = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
RECEIVER_PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
RECEIVER_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
SECRET = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"
CONTENT_KEY, NONCE = "oIhVW04MRdy2XN9CiKLxTg", "4h_95klXJ5E_qnoN"
MESSAGE = ("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
           "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")


def test_the_example_of_rfc_8291_comes_out_byte_by_byte() -> None:
    assert b64(public_point(unb64(SENDER_PRIVATE))) == SENDER_POINT
    assert b64(public_point(unb64(RECEIVER_PRIVATE))) == RECEIVER_POINT
    secret = shared_secret(unb64(SENDER_PRIVATE), unb64(RECEIVER_POINT))
    assert b64(secret) == SECRET == b64(shared_secret(unb64(RECEIVER_PRIVATE), unb64(SENDER_POINT)))
    key, nonce = message_keys(secret, unb64(AUTH), unb64(RECEIVER_POINT), unb64(SENDER_POINT), unb64(SALT))
    assert (b64(key), b64(nonce)) == (CONTENT_KEY, NONCE)
    message = encrypt(PLAIN, receiver=unb64(RECEIVER_POINT), auth=unb64(AUTH), private=unb64(SENDER_PRIVATE), salt=unb64(SALT))
    assert b64(message) == MESSAGE


@settings(max_examples=examples(6), deadline=None)
@given(plain=st.binary(max_size=PLAIN_MOST))
def test_whatever_is_encrypted_the_browser_reads_and_nobody_else(plain: bytes) -> None:
    service = PushService.__new__(PushService)
    browser, other = Browser(service), Browser(service)
    message = encrypt(plain, receiver=browser._point, auth=browser._auth, private=new_private_key(), salt=os.urandom(16))
    assert browser.decrypt(message) == plain
    assert len(message) <= 4096
    with pytest.raises(Exception, match=r"^$"):  # InvalidTag says nothing more
        other.decrypt(message)


def test_a_message_that_no_service_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="at most"):
        encrypt(b"x" * (PLAIN_MOST + 1), receiver=unb64(RECEIVER_POINT), auth=unb64(AUTH), private=new_private_key(),
                salt=b"x" * 16)


def test_who_sends_is_signed_for_one_service() -> None:
    private = new_private_key()
    claims = {"aud": "https://push.example", "exp": 1_800_000_000, "sub": "mailto:somebody@hub.example"}
    pushed = Pushed("/", {"authorization": vapid_header(private, claims)}, b"")
    key = b64(public_point(private))
    check_sender(pushed, "https://push.example", key)
    with pytest.raises(AssertionError):
        check_sender(pushed, "https://other.example", key)
    with pytest.raises(AssertionError):
        check_sender(pushed, "https://push.example", b64(public_point(new_private_key())))


@pytest.mark.parametrize("point", [b"", b"\x04" + b"\x01" * 64, unb64(RECEIVER_POINT)[:64],
                                   b"\x02" + unb64(RECEIVER_POINT)[1:33]],
                         ids=["nothing", "off the curve", "too short", "compressed"])
def test_what_is_no_point_of_the_curve_is_refused(point: bytes) -> None:
    with pytest.raises(ValueError):
        check_point(point)
    check_point(unb64(RECEIVER_POINT))


@every_row("text", ["a", "!!!!", "ab cd", "ab\ncd", "äöü"])
def test_what_is_no_base64url_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        unb64(text)


@given(st.binary(max_size=100))
def test_base64url_goes_there_and_back(raw: bytes) -> None:
    assert unb64(b64(raw)) == raw
    assert "=" not in b64(raw)
