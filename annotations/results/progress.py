"""A campaign's progress: how much is done, how fast, how well, and suspicious answers."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from annotations.answering.guidelines import campaign_versions, version_read
from annotations.models import Campaign, ItemKind
from annotations.planning.waiting import EVEN_SHARE, MOST_ITEMS
from evaluations.models.improving import withheld_documents
from evaluations.models.sizes import read_seldom
from geval.files.answers.pairs import answer_values, shown_pattern
from geval.reports.campaign_progress import (
    AnswersRead,
    CampaignProgress,
    OwnProgress,
    Suspicion,
    VersionAgreement,
    annotators_progress,
    people_records,
)
from geval.reports.campaign_questions import GivenAnswer, agreement_of, campaign_questions
from geval.statistics.careless_signs import RaterWork, ReadingTimes
from geval.statistics.chance_raters import AgainstChance, against_chance, copies
from geval.statistics.types import FloatArray
from geval.texts.spreadsheets import csv_line
from geval_site.sql import fetch_row, fetch_rows

# How long findings are cached: a page that refreshes itself polls every two seconds.
CACHE_SECONDS = 20
# Only the newest answers show how a person works now.
MOST_ANSWERS = 20_000
# Texts that several items show are counted once. Of an answer that a reviewer fixed,
# the annotator's own says how they agree with others.
_ANSWERS = """
    WITH given AS (
        SELECT a.id, a.item_id, i.document_id, a.annotator_id,
            coalesce(f.answer, a.answer)::text AS answer, a.shown, a.seconds, a.guidelines_version
        FROM annotations_assignment a
        LEFT JOIN LATERAL (
            SELECT w.answer FROM annotations_review w
            WHERE w.assignment_id = a.id AND w.action = 'fixed' AND NOT EXISTS (
                SELECT FROM annotations_review o WHERE o.assignment_id = a.id
                    AND o.action = 'handed out' AND o.id > w.id)
            ORDER BY w.id LIMIT 1
        ) f ON true
        JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
            AND i.document_id <> ALL(%s)
        WHERE a.campaign_id = %s AND a.state = 'submitted' ORDER BY a.id DESC LIMIT %s
    ), lengths AS MATERIALIZED (
        SELECT o.id, evaluations_word_count(o.text) AS words
        FROM evaluations_candidateoutput o WHERE o.id IN (SELECT unnest(shown) FROM given)
    )
    SELECT item_id, document_id, annotator_id, answer, shown, seconds, guidelines_version,
        (SELECT sum(l.words) FROM lengths l WHERE l.id = ANY(g.shown))::int
    FROM given g ORDER BY id DESC"""


@dataclass(frozen=True)
class _Row(GivenAnswer):
    """An answer: `pattern` by places on the page, `words` of the texts shown, `guidelines` the
    version that its annotator had been shown."""

    pattern: str
    seconds: float | None
    words: int
    guidelines: int | None


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    """Return all figures of a campaign, from its assignments, in three queries."""
    items, complete, places = campaign.item_counts()
    read = _answers_read(campaign)
    annotators = annotators_progress(fetch_rows(_BY_ANNOTATOR, {"campaign": campaign.pk}), read)
    submitted, reserved, per_hour = _totals(campaign)
    return CampaignProgress(
        items=items,
        places=places,
        submitted=submitted,
        complete=complete,
        reserved=reserved,
        per_hour=per_hour,
        annotators=annotators,
        skipped=sum(annotator.skipped for annotator in annotators),
        agreement=read.agreement,
        agreement_by_version=read.agreement_by_version,
    )


def own_progress(campaign: Campaign, annotator_id: int) -> OwnProgress:
    _items, _complete, places = campaign.item_counts()
    submitted, _, _ = _totals(campaign)
    answered, today, skipped, seconds = fetch_row(
        """SELECT count(*) FILTER (WHERE state = 'submitted'),
                  count(*) FILTER (WHERE state = 'submitted'
                      AND submitted_at > date_trunc('day', now())),
                  count(*) FILTER (WHERE state = 'skipped'),
                  percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)
                      FILTER (WHERE state = 'submitted')
           FROM annotations_assignment WHERE campaign_id = %s AND annotator_id = %s""",
        [campaign.pk, annotator_id],
    )
    share = submitted / places if places else 0.0
    return OwnProgress(
        answered, today, skipped, seconds, 3600 / seconds if seconds else None, share
    )


def _totals(campaign: Campaign) -> tuple[int, int, float | None]:
    """Return ordinary answers, assigned items, and answers per hour (of the last hour at most)."""
    submitted, reserved, lately, hours = fetch_row(
        """SELECT count(*) FILTER (WHERE a.state = 'submitted'), count(*)
            FILTER (WHERE a.state = 'reserved'),
                  count(*) FILTER (WHERE a.submitted_at > now() - interval '1 hour'),
                  extract(epoch FROM least(now() - min(a.submitted_at), interval '1 hour'))
                      / 3600
           FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
           WHERE a.campaign_id = %s AND i.kind = %s""",
        [campaign.pk, ItemKind.ORDINARY],
    )
    # A rate over less than a minute means nothing.
    return (
        submitted,
        reserved,
        lately / float(hours) if lately and hours and hours > 1 / 60 else None,
    )


def people_file(campaign: Campaign) -> Iterator[str]:
    """Return CSV of what is said of each annotator, with a row for each question."""
    for at, record in enumerate(people_records(campaign_progress(campaign))):
        if not at:
            yield csv_line(record)
        lists = ("warnings", "guidelines_versions", "severity_over_time")
        cells = record | {name: "; ".join(map(str, record[name])) for name in lists}
        yield csv_line(cells.values())


def _answers_read(campaign: Campaign) -> AnswersRead:
    """Return what the answers say, cached for a few seconds."""
    hidden = withheld_documents(campaign.project_id)
    key = ("answers read", campaign.pk, *hidden)
    return read_seldom(key, lambda: read_anew(campaign, hidden), seconds=CACHE_SECONDS)


def read_anew(campaign: Campaign, hidden: list[int]) -> AnswersRead:
    """Return what the current answers say."""
    rows = [_row(*row) for row in fetch_rows(_ANSWERS, [hidden, campaign.pk, MOST_ANSWERS])]
    # In one order, as the permutations that are drawn depend on it.
    annotators = sorted({row.annotator for row in rows})
    if len(annotators) < 2:
        return AnswersRead()
    answers = _as_array(rows, annotators)
    shared: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for copy in copies(answers):
        first, second = annotators[copy.first], annotators[copy.second]
        shared[first].append((second, copy.same, copy.items))
        shared[second].append((first, copy.same, copy.items))
    # A fixed seed, so that the same answers give the same result.
    tests = against_chance(answers, np.random.default_rng(campaign.seed))
    by_item: dict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        by_item[row.item][row.pattern] += 1
    suspicions = {
        annotator: _suspicion(
            [row for row in rows if row.annotator == annotator], by_item, test, shared[annotator]
        )
        for annotator, test in zip(annotators, tests, strict=True)
    }
    names = {str(pk): name for pk, name in campaign.criteria.values_list("pk", "name")}
    questions = names or {"0": "overall"}
    agreement, people = campaign_questions(rows, questions, is_rating=campaign.is_rating)
    return AnswersRead(
        suspicions,
        agreement,
        people,
        _by_version(campaign, rows, questions),
    )


def _by_version(
    campaign: Campaign, rows: Sequence[_Row], questions: Mapping[str, str]
) -> tuple[VersionAgreement, ...]:
    """Return people's agreement among the answers of each version of the guidelines; empty if all
    were given under the same."""
    numbers = [row.version.number for row in campaign_versions(campaign)]
    answers: dict[int | None, list[_Row]] = defaultdict(list)
    for row in rows:
        answers[version_read(row.guidelines, numbers)].append(row)
    if len(answers) < 2:
        return ()
    return tuple(
        VersionAgreement(version, len(of), agreement_of(of, questions))
        for version, of in sorted(answers.items(), key=lambda pair: pair[0] or 0)
    )


def _row(
    item: int, document: int, annotator: int, answer: str, shown: list[int],
    seconds: float | None, guidelines: int | None, words: int | None,
) -> _Row:  # fmt: skip
    given = orjson.loads(answer)
    pattern, values = shown_pattern(given, shown), answer_values(given, shown)
    return _Row(item, document, annotator, values, pattern, seconds, words or 0, guidelines)


def _suspicion(
    own: Sequence[_Row],
    by_item: Mapping[int, Counter[str]],
    chance: AgainstChance,
    same_as: Sequence[tuple[int, int, int]],
) -> Suspicion:
    """Return the findings about the annotator of these answers.

    Args:
        by_item: how often each pattern was given, by everybody.
    """
    timed = [(row.seconds, row.words) for row in own if row.seconds is not None]
    pattern, same = Counter(row.pattern for row in own).most_common(1)[0]
    others = sum(by_item[row.item].total() - 1 for row in own)
    equal = sum(by_item[row.item][pattern] for row in own) - same
    times = ReadingTimes.of([took for took, _ in timed], [words for _, words in timed])
    # Without others nothing is known of what is usual.
    expected = equal / others if others else 1.0
    work = RaterWork(0, 0, 0, times, same, len(own), expected, chance.against_care)
    return Suspicion(chance, tuple(same_as), work)


def _as_array(rows: Sequence[_Row], annotators: Sequence[int]) -> FloatArray:
    """Return answers as numbers: shape (annotators, items, questions), NaN where there is none."""
    items = {pk: index for index, pk in enumerate(dict.fromkeys(row.item for row in rows))}
    place = {pk: index for index, pk in enumerate(annotators)}
    names = dict.fromkeys(name for row in rows for name in row.values)
    columns = {name: index for index, name in enumerate(names)}
    array = np.full((len(annotators), len(items), max(1, len(columns))), np.nan)
    for row in rows:
        for name, value in row.values.items():
            array[place[row.annotator], items[row.item], columns[name]] = value
    return array


# An even share that is all items is their number; only who takes more has none.
_BY_ANNOTATOR = f"""
    WITH even AS MATERIALIZED (
        SELECT coalesce({EVEN_SHARE}, (SELECT count(*) FROM annotations_campaignitem
            WHERE campaign_id = c.id AND kind = 'ordinary')) AS share
        FROM annotations_campaign c WHERE c.id = %(campaign)s
    ), seats AS (
        SELECT s.*, {MOST_ITEMS.format(share="(SELECT share FROM even)")} AS most,
            (SELECT count(*) FROM annotations_campaignitem i WHERE i.campaign_id = s.campaign_id
                AND i.kept_for IS NOT NULL AND s.annotator_id = ANY(i.kept_for)) AS kept
        FROM annotations_seat s JOIN annotations_campaign c ON c.id = s.campaign_id
        WHERE s.campaign_id = %(campaign)s
    ), mine AS (
        SELECT a.*, i.kind,
               CASE WHEN a.state = 'submitted' THEN a.passed END AS is_right,
               w.action AS reviewed
        FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
        LEFT JOIN (
            SELECT DISTINCT ON (r.assignment_id) r.assignment_id, r.action
            FROM annotations_review r JOIN annotations_assignment t ON t.id = r.assignment_id
            WHERE t.campaign_id = %(campaign)s ORDER BY r.assignment_id, r.id DESC
        ) w ON w.assignment_id = a.id
        WHERE a.campaign_id = %(campaign)s
    )
    SELECT n.id, n.name, s.removed_at IS NOT NULL,
           EXISTS (SELECT FROM annotations_exclusion e
               WHERE e.annotator_id = n.id AND e.lifted_at IS NULL),
           count(m.id) FILTER (WHERE m.state = 'submitted' AND m.kind = 'ordinary'),
           count(m.id) FILTER (WHERE m.state = 'skipped'), count(m.id) FILTER (WHERE m.flagged),
           count(m.id) FILTER (WHERE m.submitted_at > now() - interval '1 hour'),
           extract(epoch FROM least(interval '1 hour', now() - min(m.submitted_at)
               FILTER (WHERE m.submitted_at > now() - interval '1 hour'))) / 3600,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY m.seconds)
               FILTER (WHERE m.state = 'submitted' AND m.kind = 'ordinary'),
           count(m.id) FILTER (WHERE m.is_right IS NOT NULL AND m.kind <> 'practice'),
           count(m.id) FILTER (WHERE m.is_right AND m.kind <> 'practice'),
           max(m.submitted_at),
           coalesce(array_agg(DISTINCT m.guidelines_version) FILTER (WHERE m.state = 'submitted'
               AND m.guidelines_version IS NOT NULL), '{{}}'),
           count(m.id) FILTER (WHERE m.reviewed = 'asked'),
           count(m.id) FILTER (WHERE m.reviewed = 'corrected' OR m.reviewed IS NULL AND m.flagged
               AND m.state = 'submitted'),
           count(m.id) FILTER (WHERE m.reviewed = 'returned'),
           s.most + greatest(0, s.kept - s.most)
    FROM seats s JOIN annotations_annotator n ON n.id = s.annotator_id
    LEFT JOIN mine m ON m.annotator_id = n.id
    GROUP BY n.id, n.name, s.removed_at, s.most, s.kept ORDER BY n.id"""
