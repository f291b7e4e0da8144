"""A report as JSON; an undefined value is null with its reason next to it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import orjson

from geval.reports.downloads.board_tables import board_json
from geval.reports.downloads.json_values import ends_json, estimate_json, ranked_json, with_interval
from geval.reports.expert_words import labels_needed
from geval.reports.instructed import Instructed
from geval.reports.options import MEAN
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.verdicts.analysis import Agreement, JudgeAnalysis, Significance
from geval.reports.verdicts.expert import LabelEvidence, Required
from geval.reports.verdicts.null_judges import NullJudge
from geval.reports.verdicts.verdict import Evidence
from geval.reports.words import chosen_note, in_a_sentence, weights_note
from geval.statistics.alt_test import AltTest
from geval.statistics.correlation import COEFFICIENTS, Level
from geval.statistics.pass_fail import PassFail
from geval.statistics.ppi import PpiTable
from geval.statistics.shares import ShareEstimate
from geval.statistics.thresholds import (
    INTERVAL_DOCUMENTS,
    INTERVAL_OUTPUTS,
    INTERVAL_SYSTEMS,
)

# Floats have 15 to 17 digits, the last of which differ between machines.
DIGITS = 12


def as_json(report: Report) -> str:
    """Return the report as JSON; an undefined value is null, with its reason next to it."""
    content: dict[str, Any] = {
        "project": report.project,
        "interval": {
            "method": "jackknife with Student's t",
            "over": "documents",
            "least_documents": INTERVAL_DOCUMENTS,
            "least_systems": INTERVAL_SYSTEMS,
            "least_outputs_at_summary_level": INTERVAL_OUTPUTS,
        },
        "view": {
            "level": report.options.level,
            "coefficient": report.options.coefficient,
            "over": report.options.over,
            "query": report.options.query,
        },
        "systems": list(report.systems),
        "criteria": {
            result.criterion: _criterion_json(result, report.levels) for result in report.criteria
        },
    }
    for name in ("not_applicable", "not_applicable_to_people"):
        if agreements := getattr(report, name):
            content[name] = [asdict(each) for each in agreements]
    if report.options.round:
        content["round"] = report.options.round_name
    if report.options.human_score != MEAN:
        content["human_score"] = {
            "kind": report.options.human_score,
            "name": report.options.human_score_name,
            "criteria": {
                result.criterion: {
                    "outputs": result.rated_outputs,
                    "rated_outputs_without_one": result.unscored,
                    "reason": result.no_human_score or None,
                }
                for result in report.criteria
            },
        }
    if report.sessions:
        content["sessions"] = {"sessions": report.sessions, "turns": report.turns}
    if report.groups:
        content["groups"] = report.groups
    if report.chosen:
        content["outputs_not_drawn_at_random"] = report.chosen
    if notes := [note for note in (weights_note(report), chosen_note(report)) if note]:
        content["what_numbers_speak_of"] = notes
    if report.withheld:
        content["withheld_documents"] = report.withheld
    if report.labels:
        content["labels"] = [result.as_dict() for result in report.labels]
    if report.boards:
        content["comparisons"] = {name: board_json(board) for name, board in report.boards}
    return orjson.dumps(_rounded(content), option=orjson.OPT_INDENT_2).decode()


def _rounded(content: Any) -> Any:
    """Round floats to digits that do not depend on the machine or library versions."""
    if isinstance(content, float):
        return float(f"{content:.{DIGITS}g}")
    if isinstance(content, dict):
        return {key: _rounded(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_rounded(value) for value in content]
    return content


def _criterion_json(result: CriterionResult, levels: Sequence[Level]) -> dict[str, Any]:
    weights = {} if result.weights is None else {"weights": asdict(result.weights)}
    items = {"rubric_items": result.items} if result.items else {}
    return {
        **weights,
        **items,
        "documents": result.documents,
        "rated_outputs": result.rated_outputs,
        "ratings_with_scores_in_sight": result.in_sight,
        "judges": {
            judge.judge: {"verdict": result.verdict_on(judge).value}
            | _judge_json(judge, result.annotators, levels)
            for judge in result.judges
        },
        "agreement": _agreement_json(result.agreement),
        "ceiling": {
            name: with_interval(ceiling.estimate, ceiling.interval)
            for name, ceiling in result.agreement.ceilings.items()
        },
        "verdict": _verdict_json(result),
        "null_judges": [_null_json(null) for null in result.nulls],
        "rate_next": list(result.rate_next),
        "significance": _significance_json(result.significance),
        "projections": [
            {
                "half_width": projection.half_width,
                "more_documents": projection.documents,
                "more_ratings": projection.ratings,
                "promised_documents": projection.promised_documents,
                "promised_ratings": projection.promised_ratings,
            }
            for projection in result.projections
        ],
    }


def _verdict_json(result: CriterionResult) -> dict[str, Any]:
    """Return the view's verdict on the best judge, with the checks behind it."""
    verdict = {"verdict": result.verdict.value, "label": result.verdict.label}
    if result.best is None:
        return verdict | {
            "judge": None,
            "missing": in_a_sentence(result),
            "level_to_try": result.level_to_try,
        }
    evidence = result.evidence(result.best)
    return verdict | {
        "judge": result.best.judge,
        **_seen_json(result.best),
        "rated_outputs": evidence.rated,
        "scored_outputs": evidence.outputs,
        "within_systems": _within_json(evidence),
        **_by_labels_json(result.by_labels(result.best)),
        "scores_like_a_rater": evidence.scores_like_a_rater,
        "ranks_like_a_rater": evidence.ranks_like_a_rater,
        "one_rater": estimate_json(evidence.ceiling),
        "in_place_of_a_rater": estimate_json(evidence.in_place),
        "behind_a_rater": _behind_json(evidence),
        "p_no_nearer_than_the_best_constant": evidence.p_nearer,
        "judges_compared": evidence.compared,
        "interval_as_the_best": ends_json(result.interval_of(result.best)),
        "scores_far_off": estimate_json(evidence.far_off),
        "bar": evidence.bar,
        "follows_as_closely": result.as_close
        and {"criterion": result.as_close.criterion} | estimate_json(result.as_close.correlation),
        "missing": evidence.missing or None,
    }


def _behind_json(evidence: Evidence) -> dict[str, Any]:
    return {
        "value": evidence.behind.value,
        "low": evidence.behind_low,
        "confidence": 1 - evidence.error,
        "reason": evidence.behind.reason or None,
    }


def _within_json(evidence: Evidence) -> dict[str, Any] | None:
    """Return the checks within systems; None where they cannot be made."""
    within = evidence.within
    if within is None:
        return None
    return {
        "correlation": with_interval(within.correlation, within.interval),
        "one_rater": estimate_json(within.ceiling),
        "in_place_of_a_rater": estimate_json(within.in_place),
        "behind_a_rater": _behind_json(within),
        "scores_like_a_rater": within.scores_like_a_rater,
        "ranks_like_a_rater": within.ranks_like_a_rater,
    }


def _judge_json(
    result: JudgeResult, annotators: tuple[str, ...], levels: Sequence[Level]
) -> dict[str, Any]:
    correlations = result.correlations
    values: dict[str, Any] = {
        coefficient: {
            level: estimate_json(correlations.estimates[coefficient][level]) for level in levels
        }
        for coefficient in COEFFICIENTS
    }
    for coefficient, interval in result.intervals.items():
        values[coefficient]["summary"]["ci"] = ends_json(interval)
    counts = {
        "stand_in": result.is_stand_in,
        "documents": correlations.documents,
        "documents_ranked": correlations.documents_ranked,
        "documents_used": correlations.documents_used,
        "pairs": correlations.pairs,
        "missing_scores": result.missing,
        **_seen_json(result),
        **_instructed_json(result.instructed),
        **_repeats_json(result.repeats),
        "letters": result.letters,
        "alt_test": _alt_test_json(result.alt_test, annotators),
    }
    passing = result.analysis.passing
    return (
        counts
        | values
        | _more_json(result.analysis)
        | ({} if passing is None else {"pass_fail": _pass_fail_json(passing)})
        | {
            "own_family": {
                "family": result.family.name,
                "family_is_given": result.family.is_given,
                "systems_with_guessed_family": result.guessed_families,
                "at_equal_rating": with_interval(
                    result.own_family.partial, result.own_family.interval
                ),
            }
        }
    )


def _repeats_json(repeats: ShareEstimate | None) -> dict[str, Any]:
    """Return on which share of outputs a judge repeated its score, where it scored some again."""
    if repeats is None:
        return {}
    same = with_interval(repeats.estimate, repeats.interval)
    return {"same_score_again": {"outputs": repeats.outputs} | same}


def _instructed_json(instructed: Instructed | None) -> dict[str, Any]:
    """Return the effect of an instruction; empty for a judge that no text can instruct."""
    if instructed is None:
        return {}
    finding = instructed.finding
    probed = (
        None
        if finding is None
        else {
            "value": finding.value,
            "ci": finding.interval.ends if finding.interval else None,
            "is_found": finding.is_found,
            "outputs": finding.outputs,
            "documents": finding.documents,
            "reason": finding.reason or None,
        }
    )
    return {"instructed": probed}


def _seen_json(result: JudgeResult) -> dict[str, Any]:
    """Return what the judge's search has seen of its documents; empty for other judges."""
    seen = result.seen
    return (
        {} if seen is None else {"seen_by_search": {"documents": seen.documents, "said": str(seen)}}
    )


def _more_json(analysis: JudgeAnalysis) -> dict[str, Any]:
    spread, calibration, length = analysis.spread, analysis.calibration, analysis.length
    return {
        "pearson_disattenuated": with_interval(
            analysis.disattenuated.estimate, analysis.disattenuated.interval
        )
        | {"reliability_of_mean": estimate_json(analysis.disattenuated.reliability)},
        "view_interval": ends_json(analysis.shown),
        "view_interval_reason": analysis.shown.reason or None,
        "spread": (
            None
            if spread is None
            else {
                "tie_rate": spread.tie_rate,
                "entropy_bits": spread.entropy_bits,
                "modal_share": spread.modal_share,
                "ties_mislead": spread.ties_mislead,
            }
        ),
        "ppi": _ppi_json(analysis.ppi),
        "calibration": (
            None
            if calibration is None
            else {
                "error_before": calibration.before,
                "error_isotonic": calibration.after,
                "error_constant": calibration.constant,
                "folds": calibration.folds,
            }
        ),
        "length_bias": {
            "at_equal_rating": with_interval(length.partial, length.interval),
        },
        "writer_bias": (
            None
            if analysis.writers is None
            else {
                name: {
                    "human_written": group.human_written,
                    "llm_written": group.llm_written,
                    "difference": group.gap,
                    "ci": ends_json(interval),
                    "pairs": group.pairs,
                }
                for name, (group, interval) in analysis.writers.groups.items()
            }
        ),
    }


def _by_labels_json(evidence: LabelEvidence | None) -> dict[str, Any]:
    """Return the checks by labels; nothing where the two checks give the verdict."""
    if evidence is None:
        return {}
    return {
        "by_labels": {
            **{
                name: {"required": side.least, "is_shown": side.is_shown, **_beside_json(side)}
                for name, side in zip(
                    ("sensitivity", "specificity") if evidence.passing else ("weighted_kappa",),
                    evidence.sides,
                    strict=True,
                )
            },
            "weighted_kappa_of_the_judge": with_interval(
                evidence.kappa.estimate, evidence.kappa.interval
            ),
            "better_than_reading_nothing": evidence.is_shown,
            "labels_needed": labels_needed(evidence),
        }
    }


def _beside_json(side: Required) -> dict[str, Any]:
    """Return the judge beside a rater in whose place it is, where people are the bar."""
    beside = side.beside
    if beside is None:
        return {}
    shares = {"judge": beside.judge, "one_rater": beside.rater, "outputs": beside.outputs}
    return {"beside_a_rater": with_interval(beside.estimate, beside.interval) | shares}


def _pass_fail_json(pass_fail: PassFail) -> dict[str, Any]:
    """Pass rates by the position of the system, as for prediction-powered means."""
    return {
        "class_to_find": "pass" if pass_fail.finds_passes else "fail",
        "threshold": pass_fail.threshold,
        "both_pass": pass_fail.both_pass,
        "only_judge_passes": pass_fail.false_pass,
        "only_people_pass": pass_fail.false_fail,
        "both_fail": pass_fail.both_fail,
        **{
            name: with_interval(share.estimate, share.interval)
            for name, share in pass_fail.by_name.items()
        },
        "rate_error": with_interval(pass_fail.rate_error.estimate, pass_fail.rate_error.interval),
        "systems": [
            {
                "outputs": rate.outputs,
                "judged": rate.judged,
                "labelled": rate.labelled,
                "labels_to_halve": rate.more,
                "corrected": with_interval(rate.corrected.estimate, rate.corrected.interval),
            }
            for rate in pass_fail.systems
        ],
        "majority": {
            "passes": pass_fail.majority.passes,
            "share": pass_fail.majority.share,
            "kappa": pass_fail.majority.kappa,
            "ac1": pass_fail.majority.ac1,
        },
    }


def _ppi_json(table: PpiTable) -> dict[str, Any]:
    """Means by the position of the system; the system names are listed once in the report."""
    return {
        "random_sample": table.is_random,
        "p_unlike": table.unlike,
        "systems": [
            {"rated": system.rated, "outputs": system.outputs}
            | (
                {}
                if system.mean is None
                else {
                    "mean": system.mean.estimate,
                    "ci": ends_json(system.mean),
                    "weight": system.mean.weight,
                    "effective_ratings": system.mean.effective_ratings,
                }
            )
            for system in table.systems
        ],
    }


def _significance_json(significance: Significance) -> dict[str, Any]:
    return {
        "level": "summary",
        "coefficient": significance.coefficient,
        "over": significance.over,
        "letters": significance.letters,
        "means_with_ties": {
            name: None if np.isnan(mean) else mean for name, mean in significance.means.items()
        },
        "pairs": [
            {
                "judges": list(pair),
                "difference": test.observed,
                "ci_over_documents": ends_json(significance.intervals[pair]),
                **ranked_json(significance.ranked[pair]),
                "p": test.p,
                "p_holm": significance.adjusted.get(pair),
                "orderings": test.orderings,
                "exact": test.exact,
                "method": test.method,
            }
            | ({"reason": test.reason} if test.reason else {})
            for pair, test in significance.tests.items()
        ],
    }


def _agreement_json(agreement: Agreement) -> dict[str, Any]:
    return {
        "ceiling": {
            coefficient: with_interval(ceiling.estimate, ceiling.interval)
            for coefficient, ceiling in agreement.ceilings.items()
        },
        "krippendorff_alpha": {
            name: with_interval(value, agreement.alpha_intervals[name])
            for name, value in agreement.alpha.items()
        },
        "icc": {
            "icc1": estimate_json(agreement.icc.icc1),
            "icc2_1": estimate_json(agreement.icc.icc2_1),
        },
        "below_the_bar": list(agreement.below_the_bar),
        "leave_one_out_summary_spearman": {
            name: estimate_json(behind.estimate) | {"documents_used": behind.documents_used}
            for name, behind in agreement.leave_one_out.items()
        },
    }


def _null_json(null: NullJudge) -> dict[str, Any]:
    """Return a null judge's numbers, next to the best judge; the interval of shuffled scores is the
    range of draws."""
    return {
        "name": null.name,
        "title": null.title,
        "draws": len(null.draws),
        **with_interval(null.correlation, null.interval),
        "in_place_of_a_rater": estimate_json(null.draws[0].in_place),
        "winning_rate": null.winning_rate,
        "passes_alt_test": null.passes,
        "p_no_nearer_than_the_best_constant": null.draws[0].p_nearer,
        "judge_is_ahead": null.draws[0].ahead and ends_json(null.draws[0].ahead),
        "p_judge_no_nearer": null.draws[0].p_farther,
    }


def _alt_test_json(test: AltTest, annotators: tuple[str, ...]) -> dict[str, Any]:
    return {
        "epsilon": test.epsilon,
        "winning_rate": estimate_json(test.winning_rate),
        "advantage_probability": estimate_json(test.advantage),
        "p": dict(zip((annotators[index] for index in test.annotators), test.p, strict=True)),
        "outputs": test.outputs,
        "passes": test.passes,
        "left_out": [annotators[index] for index in test.left_out],
        "smallest_epsilon": test.smallest_epsilon,
    }
