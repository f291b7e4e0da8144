"""`make bench-claims`: how many claims a judge earns that reads nothing.

On the eleven criteria of SummEval, Topical-Chat and QAGS, with people's published ratings, judges
that read nothing are measured as any judge is: every constant of the scale, always the most common
rating, people's mean ratings dealt out again at random, and in the order of the texts' length; and
four that know people's ratings of other texts: of the same system, of the same system and length,
of the same document, and by the same annotator. Of each claim that the product makes it is counted
on how many criteria one of them gets it (of draws at random: in more than 5 %). The goal is none.
Beside it stands on how many it would be by the bare statistic: the annotator test alone with every
rater, a point estimate, a gain over today's judge.

Then candidates that tie the outputs of hard documents, which gain nothing.
"""

import argparse
import csv
import gzip
import itertools
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.improve import LOCKED_SHARE, Goals
from benchmarks.site import BENCHMARK_DATA, temporary_site
from benchmarks.tied import HARD, MOST_PROVEN, bare_share_of_tied_proven, share_of_tied_proven
from geval.statistics.alt_test import alt_test
from geval.statistics.arrays import Outputs, complete
from geval.statistics.calibration import isotonic, nearest_to_all
from geval.statistics.held_out_test import (
    ProofOutcome,
    confidence_of,
    gain_in_distance,
    gain_in_rank,
)
from geval.statistics.null_judges import (
    NULL_NAMES,
    annotator_scores,
    constant_scores,
    document_scores,
    group_scores,
    is_met,
    length_scores,
    shuffled_scores,
    system_scores,
)
from geval.statistics.thresholds import ALT_TEST_ANNOTATORS, ALT_TEST_OUTPUTS
from geval.statistics.types import FloatArray

if TYPE_CHECKING:
    from evaluations.models import Criterion, Project
    from geval.reports.data import ReportData

BOTH = "system and length"
NULLS = (*NULL_NAMES, BOTH)
# Published data, by the folder, and the level at which their report has a verdict.
LEVELS = {"summeval": "summary", "topical_chat": "summary", "qags_xsum": "dataset"}
LOOKS = 5
TIED_PROJECTS = 300
MOST_POINTS = 11
TEST, SCORES, RANKS, CHECKS, MAP, BETTER = CLAIMS = (
    "passes the annotator test",
    "scores like a rater",
    "ranks like a rater",
    "use with spot checks, or more",
    "a map of it is proven",
    "proven better than a recorded judge",
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Earned:
    """Whether a judge is said to meet a claim, and whether by the bare statistic it would."""

    claim: str
    now: bool
    bare: bool


# Reading the data


def files_of(dataset: str, folder: Path) -> Iterator[Path]:
    """Outputs, ratings and a recorded judge's scores as files that the site loads."""
    source = BENCHMARK_DATA / dataset
    ratings = folder / "ratings.csv"
    ratings.write_bytes(gzip.decompress((source / "human_ratings.csv.gz").read_bytes()))
    yield ratings
    outputs = folder / "outputs.jsonl"
    scores: list[tuple[str, str, str, float]] = []
    if dataset == "qags_xsum":
        items = json.loads((source / "qags_xsum_unieval.json").read_text())
        lines = [
            {"doc_id": f"qags_xsum-{item['doc_id']:03}", "system_id": "bart-xsum",
             "source": item["source"], "output": item["system_output"]}
            for item in items
        ]  # fmt: skip
        outputs.write_text("\n".join(map(json.dumps, lines)))
        scores = [
            (line["doc_id"], "bart-xsum", name, float(score))
            for line, item in zip(lines, items, strict=True)
            for name, score in item["predict_scores"].items()
        ]
    else:
        outputs.write_bytes(gzip.decompress((source / "outputs.jsonl.gz").read_bytes()))
    if dataset == "summeval":
        with gzip.open(source / "llm_scores.csv.gz", "rt") as lines_of_scores:
            scores = [
                (row["doc_id"], row["system_id"], row["criterion"], float(row["score"]))
                for row in csv.DictReader(lines_of_scores)
                if row["judge"] == "gpt-4o"
            ]
    elif dataset == "topical_chat":
        with gzip.open(source / "gpt35_geval_responses.json.gz") as file:
            replies = json.load(file)
        for item in replies:
            read = [
                int(digit[0]) for reply in item["all_responses"] if (digit := _DIGIT.search(reply))
            ]
            if read:
                scores.append(
                    (item["doc_id"], item["system_id"], item["criterion"], float(np.mean(read)))
                )
    yield outputs
    recorded = folder / "scores.csv"
    with recorded.open("w") as file_of_scores:
        writer = csv.writer(file_of_scores)
        writer.writerow(("doc_id", "system_id", "criterion", "judge", "score"))
        writer.writerows((*row[:3], "recorded", row[3]) for row in scores)
    yield recorded


def loaded(dataset: str) -> "Project":
    """A project with a dataset."""
    from evaluations.corpus.store import load_files
    from evaluations.models import Project
    from geval.files.readers import InputFile

    project = Project.objects.create(name=dataset, slug=dataset.replace("_", "-"))
    with tempfile.TemporaryDirectory() as name:
        paths = list(files_of(dataset, Path(name)))
        load_files(project, [InputFile(path, path.name) for path in paths])
    return project


# Judges that read nothing


def null_scores(
    name: str, data: "ReportData", criterion: int, points: tuple[float, ...], draws: int
) -> list[FloatArray]:
    """What judges of a kind give to each output; shape (outputs,) each."""
    human, words = data.humans[criterion].mean, data.words
    if name == "system":
        of_systems = system_scores(data.units, human)
        return [] if of_systems is None else [of_systems]
    if name == BOTH:
        both = system_and_length_scores(data.units, human, words)
        return [] if both is None else [both]
    if name == "document":
        return [document_scores(data.units, human)]
    if name == "group":
        of_groups = group_scores(data.units, human)
        return [] if of_groups is None else [of_groups]
    if name == "annotator":
        by_annotator = annotator_scores(data.units, data.humans[criterion].ratings)
        return [] if by_annotator is None else [by_annotator]
    if name == "constant":
        at = np.linspace(0, len(points) - 1, min(len(points), MOST_POINTS)).round().astype(int)
        return [constant_scores(human, points[place]) for place in at]
    if name == "majority":
        rated = Counter(
            min(points, key=lambda point: abs(point - value)) for value in human[~np.isnan(human)]
        )
        return [constant_scores(human, rated.most_common(1)[0][0])]
    if name == "length":
        return [length_scores(human, sign * words) for sign in (1.0, -1.0)]
    return [shuffled_scores(human, np.random.default_rng(seed)) for seed in range(draws)]


def system_and_length_scores(
    outputs: Outputs, human: FloatArray, words: FloatArray
) -> FloatArray | None:
    """Return the mean rating of the system on the other documents, and what length adds to it in
    the other half of the documents (a cubic over its logarithm); shape (outputs,). None where one
    system wrote everything."""
    of_systems = system_scores(outputs, human)
    if of_systems is None:
        return None
    scores, length = of_systems.copy(), np.log1p(words)
    for half in (0, 1):
        learns = (outputs.document % 2 != half) & ~np.isnan(human + of_systems + length)
        if learns.sum() > 3:
            line = np.polynomial.Polynomial.fit(length[learns], (human - of_systems)[learns], deg=3)
            scores += np.where(outputs.document % 2 == half, line(length), 0.0)
    return scores


# Claims of the report and of certificates


def claims_of_report(
    project: "Project", criterion: "Criterion", data: "ReportData", level: str
) -> Iterator[Earned]:
    """What is said of the only judge of a project's numbers."""
    from evaluations.reports.report import criterion_result
    from geval.reports.options import ReportOptions
    from geval.reports.required_figures import figure_of
    from geval.reports.requirements import RequirementOutcome, check, parse_requirement
    from geval.reports.verdicts.verdict import VERDICT_SHARE, Verdict

    result = criterion_result(
        project,
        criterion,
        options=ReportOptions(level=level),
        data=data,  # type: ignore[arg-type]
    )
    (judge,) = result.judges
    evidence = result.evidence(judge)
    required = check(
        parse_requirement("alt_test.passed"), figure_of("alt_test.passed", result, judge)
    )
    bare = alt_test(
        data.humans[criterion.pk].ratings, data.judges[criterion.pk, judge.pk],
        epsilon=judge.alt_test.epsilon, documents=data.units.document,
        least_outputs=ALT_TEST_OUTPUTS, least_annotators=ALT_TEST_ANNOTATORS,
    )  # fmt: skip
    passes, bar, in_place = bare.passes, evidence.bar, evidence.in_place.value
    is_near = bar is not None and in_place is not None and in_place >= bar
    is_said = judge.alt_test.passes and not evidence.nulls_that_pass
    yield Earned(TEST, required.outcome == RequirementOutcome.MET or is_said, passes)
    yield Earned(SCORES, evidence.scores_like_a_rater, passes)
    yield Earned(RANKS, evidence.ranks_like_a_rater, is_near)
    yield Earned(
        CHECKS,
        result.verdict in (Verdict.STANDS_IN, Verdict.SPOT_CHECKS),
        (passes or is_near) and (evidence.share or 0.0) >= VERDICT_SHARE,
    )


# Proofs


def proofs(
    data: "ReportData", key: tuple[int, int], own: FloatArray, recorded: FloatArray | None
) -> Iterator[Earned]:
    """What looks at locked documents say of a map of a judge that reads nothing, and of that judge
    in place of a recorded one (None where there is none)."""
    outputs, human = data.units, data.humans[key[0]].mean
    confidence = confidence_of(LOOKS, 1)
    locked = np.random.default_rng(0).random(outputs.documents) < LOCKED_SHARE
    there, (rated, scores) = complete(outputs, human, own)
    is_locked = locked[there.document]
    if len(scores) and np.ptp(scores):
        mapped = isotonic(scores[~is_locked], rated[~is_locked])(scores)
        proof = gain_in_distance(
            there.part(is_locked), rated[is_locked], mapped[is_locked], scores[is_locked],
            confidence=confidence, constant=nearest_to_all(rated[~is_locked]),
        )  # fmt: skip
        yield Earned(MAP, proof.outcome == ProofOutcome.PROVEN, proof.interval.is_above_zero)
    if recorded is not None:
        there, (rated, scores, theirs) = complete(outputs, human, own, recorded)
        is_locked = locked[there.document]
        rank = gain_in_rank(
            there.part(is_locked), rated[is_locked], scores[is_locked], theirs[is_locked],
            confidence=confidence,
        )  # fmt: skip
        gain = rank.gain.value
        yield Earned(BETTER, rank.outcome == ProofOutcome.PROVEN, gain is not None and gain > 0)


# Counting


def earned_on(
    project: "Project", criterion: "Criterion", level: str, draws: int
) -> dict[tuple[str, str], tuple[bool, bool]]:
    """Of each claim and judge whether it gets the claim on a criterion, now and by the bare
    statistic."""
    from evaluations.reports.data import load_data

    judge = project.judges.get()
    data = load_data(project, [judge], [criterion])
    key = criterion.pk, judge.pk
    recorded = data.judges.get(key)
    gets: dict[tuple[str, str], tuple[bool, bool]] = {}
    for name in NULLS:
        earned: dict[str, list[Earned]] = {}
        for scores in null_scores(name, data, criterion.pk, criterion.scale.points, draws):
            own = replace(data, judges={key: scores})
            claims = itertools.chain(
                claims_of_report(project, criterion, own, level),
                proofs(data, key, scores, recorded),
            )
            for claim in claims:
                earned.setdefault(claim.claim, []).append(claim)
        for title, of_draws in earned.items():
            count = is_met if name == "shuffled" else any
            gets[title, name] = (
                count([claim.now for claim in of_draws]),
                count([claim.bare for claim in of_draws]),
            )
    return gets


def print_table(counted: dict[tuple[str, str], list[int]], criteria: int) -> None:
    """A row for each claim: on how many criteria each judge gets it, in brackets by the bare
    statistic."""
    print(f"\nOn how many of {criteria} criteria a judge gets a claim that reads nothing"
          " (in brackets: by the bare statistic)")  # fmt: skip
    width = max(map(len, CLAIMS))
    print(f"{'':{width}}  " + "  ".join(name.rjust(10) for name in NULLS))
    for claim in CLAIMS:
        cells = (counted.get((claim, name), [0, 0]) for name in NULLS)
        print(f"{claim:{width}}  " + "  ".join(f"{now} ({bare})".rjust(10) for now, bare in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    if not BENCHMARK_DATA.is_dir():
        sys.exit(f"The published data are not in {BENCHMARK_DATA}.")
    goals = Goals()
    counted: dict[tuple[str, str], list[int]] = {}
    criteria = 0
    with temporary_site():
        for dataset, level in LEVELS.items():
            project = loaded(dataset)
            for criterion in project.criteria.all():
                criteria += 1
                names: dict[str, list[str]] = {}
                for key, both in earned_on(project, criterion, level, options.draws).items():
                    for at, is_earned in enumerate(both):
                        counted.setdefault(key, [0, 0])[at] += is_earned
                    if both[0]:
                        names.setdefault(key[1], []).append(key[0])
                listed = "; ".join(f"{name}: {', '.join(own)}" for name, own in names.items())
                print(f"{dataset}, {criterion}: {listed or 'nothing'}", flush=True)
    print_table(counted, criteria)
    total = sum(now for now, _bare in counted.values())
    goals.say("claims of judges that read nothing", total, 0, at_least=False, digits=0)
    for hard in HARD:
        bare = bare_share_of_tied_proven(TIED_PROJECTS, hard=hard)
        false = share_of_tied_proven(TIED_PROJECTS, hard=hard)
        print(
            f"Candidates that tie the outputs of {hard:.0%} of documents, proven of"
            f" {TIED_PROJECTS}:"
            f" {bare * TIED_PROJECTS:.0f} where each is taken over the documents that it ranks,"
            f" {false * TIED_PROJECTS:.0f} on the same documents"
        )
        goals.say(f"share proven, {hard:.0%} hard", false, MOST_PROVEN, at_least=False)
    goals.leave()


if __name__ == "__main__":
    main()
