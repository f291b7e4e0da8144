"""The statistics on tables, which are easier to write down than long arrays: of human ratings and
scores, shape (documents, systems), and of ratings, (raters, documents, systems), NaN for missing.
"""

from typing import Any

import numpy as np

from geval.statistics import (
    agreement,
    bias,
    calibration,
    correlation,
    jackknife,
    ppi,
    projection,
    reliability,
    same_documents,
    significance,
)
from geval.statistics import (
    alt_test as alternative,
)
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.types import FloatArray


def flat(*tables: FloatArray) -> tuple[Outputs, *tuple[FloatArray, ...]]:
    """The outputs of tables of one shape, and the tables' values of them."""
    return Outputs.full(*tables[0].shape), *(table.ravel() for table in tables)


def rated(ratings: FloatArray) -> tuple[Outputs, Ratings]:
    raters, documents, systems = ratings.shape
    return Outputs.full(documents, systems), Ratings.of_table(
        ratings.reshape(raters, documents * systems)
    )


def mean_over_raters(ratings: FloatArray) -> FloatArray:
    return rated(ratings)[1].means().reshape(ratings.shape[1:])


def complete_pairs(human: FloatArray, judge: FloatArray) -> tuple[FloatArray, FloatArray]:
    missing = np.isnan(human) | np.isnan(judge)
    return np.where(missing, np.nan, human), np.where(missing, np.nan, judge)


def correlations(human: FloatArray, judge: FloatArray) -> correlation.Correlations:
    return correlation.correlations(*flat(human, judge))


def coefficients_by_document(human: FloatArray, judge: FloatArray, coefficient: Any) -> FloatArray:
    return correlation.coefficients_by_document(*flat(human, judge), coefficient)


def correlation_interval(human: FloatArray, judge: FloatArray, *view: Any) -> Any:
    return jackknife.correlation_interval(*flat(human, judge), *view)


def difference_interval(
    human: FloatArray, first: FloatArray, second: FloatArray, coefficient: Any
) -> Any:
    same = same_documents.on_same_documents(*flat(human, first, second), coefficient)
    return jackknife.interval_of_difference(same)


def permutation_test(
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    coefficient: Any,
    **more: Any,
) -> significance.PairTest:
    return by_documents(*flat(human, first, second), coefficient, **more)


def by_documents(*about: Any, **more: Any) -> significance.PairTest:
    """The permutation test of two judges over documents."""
    same = same_documents.on_same_documents(*about)
    (test,) = significance.permutation_tests([same.difference], weights=[same.weight], **more)
    return test


def krippendorff_alpha(ratings: FloatArray, measurement: Any) -> Any:
    documents = jackknife.LeftOut.each(ratings.shape[1])
    return agreement.coincidences(*rated(ratings), documents).alpha(measurement)


def alpha_interval(ratings: FloatArray, measurement: Any) -> Any:
    documents = jackknife.LeftOut.each(ratings.shape[1])
    return agreement.coincidences(*rated(ratings), documents).interval(measurement, documents)


def human_ceiling(ratings: FloatArray, coefficient: Any = "spearman") -> agreement.Ceiling:
    documents = jackknife.LeftOut.each(ratings.shape[1])
    return agreement.human_ceiling(*rated(ratings), coefficient, documents)


def judge_as_a_rater(ratings: FloatArray, judge: FloatArray) -> Any:
    return agreement.judge_as_a_rater(*rated(ratings), judge.ravel())


def intraclass(ratings: FloatArray) -> reliability.Icc:
    """Of ratings of shape (raters, outputs), as `alt_test`."""
    return reliability.intraclass(Ratings.of_table(ratings))


def alt_test(ratings: FloatArray, judge: FloatArray, **more: Any) -> alternative.AltTest:
    return alternative.alt_test(Ratings.of_table(ratings), judge, **more)


def ppi_table(human: FloatArray, judge: FloatArray) -> ppi.PpiTable:
    return ppi.ppi_table(*flat(human, judge))


def document_gains(human: FloatArray, judge: FloatArray) -> FloatArray:
    return projection.document_gains(*flat(human, judge))


def cross_validated_error(human: FloatArray, judge: FloatArray, **more: Any) -> Any:
    return calibration.cross_validated_error(*flat(human, judge), **more)


def length_bias(human: FloatArray, judge: FloatArray, words: FloatArray) -> bias.LengthBias:
    return bias.length_bias(*flat(human, judge, words), jackknife.LeftOut.each(len(human)))


def writer_bias(
    human: FloatArray, judge: FloatArray, by_human: np.ndarray, by_llm: np.ndarray
) -> bias.WriterBias | None:
    documents = jackknife.LeftOut.each(len(human))
    return bias.writer_bias(*flat(human, judge), by_human, by_llm, documents)


def family_bias(
    human: FloatArray, judge: FloatArray, own: np.ndarray, others: np.ndarray
) -> bias.FamilyBias:
    documents = jackknife.LeftOut.each(len(human))
    return bias.family_bias(*flat(human, judge), own, others, documents)
