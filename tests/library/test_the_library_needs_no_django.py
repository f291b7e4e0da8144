"""`geval` is imported and useful without Django."""

import subprocess
import sys

from tests.conftest import CHECKOUT

IMPORTS_ALL = """
import pkgutil, sys
for name in ("django", "evaluations", "annotations", "assurance", "geval_site"):
    sys.modules[name] = None
import geval
names = [module.name for module in pkgutil.walk_packages(geval.__path__, "geval.")]
for name in names:
    __import__(name)
from geval.statistics.scales import Scale
from geval.statistics.correlation import coefficient_of
import numpy as np
rated, scored = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4])
print(len(names), coefficient_of(rated, scored, "spearman").value)
"""


def test_every_module_is_imported_and_computes_where_there_is_no_django() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS_ALL],
        check=False,
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    modules, rho = done.stdout.split()
    assert int(modules) > 100
    assert round(float(rho), 9) == 0.8


MEASURES = """
import sys
import geval
table = [{"doc": d, "system": s, "ann": (s + d) % 4, "bob": s, "gpt": (s * d) % 4, "output": "a b"}
         for d in range(20) for s in range(4)]
result = geval.measure(table, human=["ann", "bob"], judge="gpt", document="doc", system="system")
print(result)
print(*(name for name in ("scipy.optimize", "scipy.stats", "openai") if name in sys.modules))
"""


def test_what_takes_a_third_of_a_second_to_import_is_not_needed_to_measure() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURES], check=True, cwd=CHECKOUT, capture_output=True, text=True
    )

    *shown, imported = done.stdout.split("\n")[:-1]
    assert any("Largest disagreements" in line for line in shown)
    assert imported == ""
