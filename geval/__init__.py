"""Whether an LLM may judge texts: G-Eval, and what its scores are worth beside people's ratings.

    import geval

    result = geval.measure("ratings_and_scores.csv")
    print(result)

Everything here works without a site, without Django and without a database.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geval.evaluating.evaluating import evaluate as evaluate
    from geval.evaluating.evaluation import Evaluation as Evaluation
    from geval.evaluating.judging import EvaluationError as EvaluationError
    from geval.measuring.inputs import InputError as InputError
    from geval.measuring.measurement import Measurement as Measurement
    from geval.measuring.measuring import measure as measure
    from geval.measuring.reading import QuestionError as QuestionError

# Where each name is: numpy and scipy are loaded once something is computed.
_HOMES = {
    "evaluate": "geval.evaluating.evaluating",
    "Evaluation": "geval.evaluating.evaluation",
    "EvaluationError": "geval.evaluating.judging",
    "measure": "geval.measuring.measuring",
    "Measurement": "geval.measuring.measurement",
    "InputError": "geval.measuring.inputs",
    "QuestionError": "geval.measuring.reading",
}
__all__ = [
    "Evaluation", "EvaluationError", "InputError", "Measurement", "QuestionError", "evaluate",
    "measure",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'geval' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
