"""Indexes for the pages of large projects, made and dropped while the site runs."""

from typing import Any

import django.db.models.deletion
import django.db.models.lookups
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


def anew(name: str) -> migrations.RunSQL:
    """Drops what a process left that was killed while it built the index."""
    return migrations.RunSQL(
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop
    )


def covered(model: str, field: str, key: Any, index: str) -> migrations.SeparateDatabaseAndState:
    """Drops the index of a foreign key of which another index has the column first."""
    table = f"evaluations_{model}"
    return migrations.SeparateDatabaseAndState(
        state_operations=[migrations.AlterField(model, field, key)],
        database_operations=[
            migrations.RunSQL(
                f"DROP INDEX CONCURRENTLY IF EXISTS {index}",
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {table} ({field}_id)",
            )
        ],
    )


def key(to: str, **more: Any) -> models.ForeignKey:
    return models.ForeignKey(
        f"evaluations.{to}",
        **{"on_delete": django.db.models.deletion.CASCADE, "db_index": False} | more,
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("evaluations", "0052_limits_of_accounts")]

    operations = [
        anew("output_blank"),
        AddIndexConcurrently(
            "candidateoutput",
            models.Index(
                condition=models.Q(
                    django.db.models.lookups.LessThanOrEqual(
                        models.Func(
                            "text",
                            function="octet_length",
                            output_field=models.IntegerField(),
                        ),
                        1000,
                    ),
                    ("text__regex", r"^\s*$"),
                ),
                fields=["document"],
                name="output_blank",
            ),
        ),
        anew("item_in_order"),
        AddIndexConcurrently(
            "runitem", models.Index(fields=["run", "id"], name="item_in_order")
        ),
        anew("item_of_criterion"),
        AddIndexConcurrently(
            "runitem",
            models.Index(fields=["criterion", "run", "id"], name="item_of_criterion"),
        ),
        # Few runs compare pairs or are sent in batches; the items of others need no entry.
        anew("item_rival"),
        AddIndexConcurrently(
            "runitem",
            models.Index(
                "rival", condition=models.Q(("rival__isnull", False)), name="item_rival"
            ),
        ),
        anew("item_batch"),
        AddIndexConcurrently(
            "runitem",
            models.Index(
                "batch", condition=models.Q(("batch__isnull", False)), name="item_batch"
            ),
        ),
        covered("runitem", "run", key("evaluationrun", related_name="items"),
                "evaluations_runitem_run_id_5c0311b4"),
        covered("runitem", "criterion",
                key("criterion", null=True, blank=True, related_name="+"),
                "evaluations_runitem_criterion_id_44221dc5"),
        covered("runitem", "rival",
                key("candidateoutput", null=True, blank=True, related_name="+"),
                "evaluations_runitem_rival_id_35b0d63e"),
        covered("runitem", "batch",
                key("batch", null=True, blank=True, related_name="items",
                    on_delete=django.db.models.deletion.SET_NULL),
                "evaluations_runitem_batch_id_aa00fc24"),
        covered("score", "run", key("evaluationrun", related_name="scores"),
                "evaluations_score_run_id_db0dd4f6"),
        covered("pairscore", "run", key("evaluationrun", related_name="pair_scores"),
                "evaluations_pairscore_run_id_7bbd7fc1"),
        covered("modelreply", "project", key("project", related_name="+"),
                "evaluations_modelreply_project_id_a3a4e2e2"),
    ]
