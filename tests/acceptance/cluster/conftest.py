"""A cluster that tests share which leave it as they found it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.cluster.farm import Farm, farm


@pytest.fixture(scope="package")
def kept_farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """What ``nodes`` gives."""
    with farm(tmp_path_factory.mktemp("farm")) as made:
        yield made


@pytest.fixture
def nodes(kept_farm: Farm) -> Iterator[Farm]:
    """``box``, ``den`` and ``web``, without sessions."""
    yield kept_farm
    kept_farm.clear()
