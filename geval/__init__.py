"""Whether an LLM may judge texts: G-Eval, and what its scores are worth beside people's ratings.

    import geval

    result = geval.measure("ratings_and_scores.csv")
    print(result)

Everything here works without a site, without Django and without a database.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geval.client.site import pull as pull
    from geval.evaluating.evaluating import evaluate as evaluate
    from geval.evaluating.evaluation import Evaluation as Evaluation
    from geval.evaluating.judging import EvaluationError as EvaluationError
    from geval.improving.ground import ImproveError as ImproveError
    from geval.improving.improvement import Improvement as Improvement
    from geval.improving.improving import improve as improve
    from geval.measuring.certifying import Certification as Certification
    from geval.measuring.certifying import certify as certify
    from geval.measuring.comparing import Comparison as Comparison
    from geval.measuring.comparing import compare as compare
    from geval.measuring.inputs import InputError as InputError
    from geval.measuring.measurement import Measurement as Measurement
    from geval.measuring.measuring import measure as measure
    from geval.measuring.plans import Plan as Plan
    from geval.measuring.plans import plan as plan
    from geval.measuring.reading import QuestionError as QuestionError

# Where each name is: numpy and scipy are loaded once something is computed.
_HOMES = {
    "pull": "geval.client.site",
    "evaluate": "geval.evaluating.evaluating",
    "Evaluation": "geval.evaluating.evaluation",
    "EvaluationError": "geval.evaluating.judging",
    "improve": "geval.improving.improving",
    "Improvement": "geval.improving.improvement",
    "ImproveError": "geval.improving.ground",
    "certify": "geval.measuring.certifying",
    "Certification": "geval.measuring.certifying",
    "compare": "geval.measuring.comparing",
    "Comparison": "geval.measuring.comparing",
    "plan": "geval.measuring.plans",
    "Plan": "geval.measuring.plans",
    "measure": "geval.measuring.measuring",
    "Measurement": "geval.measuring.measurement",
    "InputError": "geval.measuring.inputs",
    "QuestionError": "geval.measuring.reading",
}
__all__ = [
    "Certification", "Comparison", "Evaluation", "EvaluationError", "ImproveError", "Improvement",
    "InputError", "Measurement", "Plan", "QuestionError", "certify", "compare", "evaluate",
    "improve", "measure", "plan", "pull",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'geval' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
