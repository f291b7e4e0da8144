"""Whether an LLM may judge texts: G-Eval, and what its scores are worth beside people's ratings.

    import geval

    result = geval.measure("ratings_and_scores.csv")
    print(result)

Everything here works without a site, without Django and without a database.
"""

import ast
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geval.client.site import pull as pull
    from geval.evaluating.evaluating import evaluate as evaluate
    from geval.evaluating.evaluation import Evaluation as Evaluation
    from geval.evaluating.judging import EvaluationError as EvaluationError
    from geval.improving.ground import ImproveError as ImproveError
    from geval.improving.improvement import Improvement as Improvement
    from geval.improving.improving import improve as improve
    from geval.improving.policies import policy as policy
    from geval.improving.policy import Policy as Policy
    from geval.measuring.certifying import Certification as Certification
    from geval.measuring.certifying import certify as certify
    from geval.measuring.comparing import Comparison as Comparison
    from geval.measuring.comparing import compare as compare
    from geval.measuring.inputs import InputError as InputError
    from geval.measuring.inputs import load_example as load_example
    from geval.measuring.measurement import Measurement as Measurement
    from geval.measuring.measuring import measure as measure
    from geval.measuring.plans import Plan as Plan
    from geval.measuring.plans import plan as plan
    from geval.measuring.plans import plan_labels as plan_labels
    from geval.measuring.rates import rate as rate
    from geval.measuring.reading import QuestionError as QuestionError

# Each name above is imported when it is first used, so that numpy, scipy and openai are loaded once
# something needs them.
_HOMES = {
    name.asname: node.module
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and node.module
    for name in node.names
    if name.asname
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("geval-site")
    if name not in _HOMES:
        raise AttributeError(f"module 'geval' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__")), "__version__"]
