"""Load a judge's raw replies from a release: parsed, counted and stored like our own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from django.db import connection

from evaluations.corpus.staging import OUTPUT_IDS, StagingTable, Tally
from evaluations.models import Criterion, ItemState, ModelReply, RunItem, Score
from geval.files.rows import FileErrors, RepliesRow
from geval.llm.released_replies import Read, score_replies
from geval.llm.replies import ReplyChoice
from geval.llm.reply_json import choices_to_json
from geval.llm.scoring import Scored
from geval.statistics.scales import short

CHUNK = 500


class ReplyStage:
    """The replies of one load until its outputs and criteria are known."""

    def __init__(self) -> None:
        self.table = StagingTable(
            "stage_replies",
            {
                "file": "int",
                "line": "int",
                "output": "bigint",
                "criterion": "bigint",
                "run": "bigint",
                "replies": "jsonb",
            },
        )
        self.unreadable = 0

    def add(self, file: int, row: RepliesRow, output: int, criterion: int, run: int) -> None:
        replies = orjson.dumps(row.replies).decode()
        self.table.add((file, row.line, output, criterion, run, replies), len(replies))

    def merge(
        self, tally: Tally, *, errors: FileErrors, files: Mapping[int, str], read: Read | None
    ) -> None:
        """Create items, replies and scores from the staged rows; existing ones with other replies
        are errors.

        Args:
            read: a rule that replaces our parser.
        """
        if not self.table.count:
            return
        criteria = {
            criterion.pk: criterion
            for criterion in Criterion.objects.filter(pk__in=self._criteria())
        }
        seen: dict[tuple[int, int, int], list[str]] = {}
        for rows in self._chunks():
            known = _known(
                [
                    (run, output, criterion)
                    for _file, _line, output, criterion, run, _replies in rows
                ]
            )
            new: list[tuple[int, int, int, list[str]]] = []
            for file, line, output, criterion, run, stored in rows:
                key, replies = (run, output, criterion), orjson.loads(stored)
                there = seen.get(key, known.get(key))
                if there is None:
                    seen[key] = replies
                    new.append((run, output, criterion, replies))
                elif there == replies:
                    tally.unchanged += 1
                else:
                    message = (
                        f"this output already has different replies on {criteria[criterion].name}"
                    )
                    errors.add(files[file], line, "all_responses", message)
            tally.created += len(new)
            self._store(new, criteria, read)

    def _criteria(self) -> list[int]:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT DISTINCT criterion FROM {self.table.name}")
            return [pk for (pk,) in cursor.fetchall()]

    def _chunks(self) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Staged rows with the ids of their outputs."""
        last = (-1, -1)
        while True:
            with connection.cursor() as cursor:
                cursor.execute(
                    f"""SELECT s.file, s.line, coalesce(o.id, -s.output), s.criterion, s.run,
                        s.replies
                        FROM {self.table.name} s
                        LEFT JOIN {OUTPUT_IDS} o ON o.number = s.output
                        WHERE (s.file, s.line) > (%s, %s) ORDER BY s.file, s.line LIMIT {CHUNK}""",
                    list(last),
                )
                rows = cursor.fetchall()
            if not rows:
                return
            last = rows[-1][:2]
            yield rows

    def _store(
        self,
        new: Sequence[tuple[int, int, int, list[str]]],
        criteria: Mapping[int, Criterion],
        read: Read | None,
    ) -> None:
        scales = {pk: criterion.scale for pk, criterion in criteria.items()}
        projects = {pk: criterion.project_id for pk, criterion in criteria.items()}
        outcomes = []
        for _run, _output, criterion, replies in new:
            outcome, unread = score_replies(
                replies, scale=scales[criterion], criterion=criteria[criterion].name, read=read
            )
            outcomes.append(outcome)
            self.unreadable += unread
        stored = ModelReply.objects.bulk_create(
            ModelReply(
                project_id=projects[criterion],
                request_key="",  # the request is unknown, so it serves no other
                choices=choices_to_json([ReplyChoice(reply) for reply in replies]),
                calls=0,
            )
            for _run, _output, criterion, replies in new
        )
        RunItem.objects.bulk_create(
            RunItem(
                run_id=run,
                output_id=output,
                criterion_id=criterion,
                state=ItemState.DONE if isinstance(outcome, Scored) else ItemState.FAILED,
                reason="" if isinstance(outcome, Scored) else outcome.reason,
                detail="" if isinstance(outcome, Scored) else outcome.detail,
                reply=reply,
            )
            for (run, output, criterion, _), outcome, reply in zip(
                new, outcomes, stored, strict=True
            )
        )
        Score.objects.bulk_create(
            Score(
                run_id=run,
                output_id=output,
                criterion_id=criterion,
                value=outcome.value,
                distribution={short(point): share for point, share in outcome.distribution.items()},
                coverage=outcome.coverage,
                entropy=outcome.entropy,
                mode="samples",
                note=outcome.note,
            )
            for (run, output, criterion, _), outcome in zip(new, outcomes, strict=True)
            if isinstance(outcome, Scored)
        )


def _known(keys: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], list[str]]:
    """The existing replies, by run, output and criterion."""
    items = RunItem.objects.filter(
        run__in={run for run, _, _ in keys},
        output__in={output for _, output, _ in keys},
        reply__isnull=False,
    )
    return {
        (run, output, criterion): [choice["text"] for choice in choices]
        for run, output, criterion, choices in items.values_list(
            "run", "output", "criterion", "reply__choices"
        )
        if criterion is not None
    }
