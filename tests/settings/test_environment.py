"""Reads of the environment: typed, with defaults, and an error that names the variable and what it
expects."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from geval_site import environment


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda env: environment.flag("X", default=True, env=env), "X is 'perhaps'; write 1 or 0"),
        (lambda env: environment.whole("X", default=1, env=env), "write a whole number"),
        (lambda env: environment.money("X", default="0", env=env), "write an amount, as in 25.50"),
        (
            lambda env: environment.choice("X", default="a", among=("a", "b"), env=env),
            "one of a, b",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_name(read: object, said: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        read({"X": "perhaps"})  # type: ignore[operator]


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
@pytest.mark.parametrize(("given", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_a_process_computes_in_one_thread(given: dict[str, str], threads: int) -> None:
    script = "import os, geval_site, numpy; print(len(os.listdir('/proc/self/task')))"
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env | given, capture_output=True, text=True, check=True
    )

    assert int(done.stdout) == min(threads, os.cpu_count() or 1)
