"""Writes the golden files anew."""

from tests.session.golden import write_all

write_all()
