"""`make lint`: migrations can be applied while processes of the version before still run.

Those processes know neither new columns nor what was renamed or dropped, and write rows without
what has become compulsory. So a change comes in two releases: expand, then contract (see
CONTRIBUTING.md). django-migration-linter reads the SQL of each migration; what it finds is an
error unless EXCEPTIONS says why it may be.
"""

import os
import sys
import tempfile
from pathlib import Path

# The last migrations before this rule: the versions that they are from were not upgraded while they
# ran.
BASELINE = {"evaluations": "0024_causes_of_gaps", "annotations": "0005_help_texts"}
# (app, migration, code of the linter): the reason, for a reader who doubts.
_FEW_ROWS = "runs and candidates are few: the index of a foreign key is made in milliseconds"
_NEW_TABLES = "its indexes are of tables that it creates, which are empty"
_WIDER_IDS = "participants are few, and a row that the constraint before allowed is allowed"
_WIDER = "errands are few, and a row that the constraint before allowed this one allows too"
EXCEPTIONS: dict[tuple[str, str, str], str] = {
    ("annotations", "0011_done_places_and_ids", "ADD_UNIQUE"): _WIDER_IDS,
    ("evaluations", "0025_wordings", "CREATE_INDEX"): _FEW_ROWS,
    ("evaluations", "0025_wordings", "CREATE_INDEX_EXCLUSIVE"): _FEW_ROWS,
    ("evaluations", "0033_instrument", "CREATE_INDEX"): _NEW_TABLES,
    ("evaluations", "0033_instrument", "CREATE_INDEX_EXCLUSIVE"): _NEW_TABLES,
    ("evaluations", "0058_request_options", "ADD_UNIQUE"): _WIDER,
    ("evaluations", "0058_request_options", "CREATE_INDEX"): _WIDER,
    ("evaluations", "0058_request_options", "CREATE_INDEX_EXCLUSIVE"): _WIDER,
    ("evaluations", "0080_proposed_items", "ADD_UNIQUE"): _WIDER,
    ("evaluations", "0081_policies", "CREATE_INDEX"): _NEW_TABLES,
    ("evaluations", "0081_policies", "CREATE_INDEX_EXCLUSIVE"): _NEW_TABLES,
}


def main() -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    os.environ["DJANGO_SETTINGS_MODULE"] = "geval_site.settings"
    os.environ["GEVAL_MODE"] = "local"
    os.environ.pop("DATABASE_URL", None)
    with tempfile.TemporaryDirectory(prefix="geval-lint-") as folder:
        Path(folder).chmod(0o755)  # as root, PostgreSQL runs under another account
        os.environ["GEVAL_DATA_DIR"] = folder
        return lint()


def lint() -> int:
    """Print what is wrong; the exit code."""
    import django

    django.setup()
    from django.conf import settings

    from geval_site.embedded.server import embedded_server

    try:
        found = problems()
    finally:
        embedded_server(settings.DATA_DIR).release()
    excused = {key for key in found if EXCEPTIONS.get(key)}
    for (app, name, code), message in found.items():
        if (app, name, code) not in excused:
            print(f"{app}/migrations/{name}.py: {message} ({code})")
    for app, name, code in EXCEPTIONS.keys() - found.keys():
        print(f"EXCEPTIONS in .ci/migrations.py: {app} {name} {code} is not needed; remove it")
    if excused != found.keys() or excused != EXCEPTIONS.keys():
        print("Expand first, contract in a later release: see CONTRIBUTING.md.")
        return 1
    print(f"Migrations since {', '.join(BASELINE.values())} are safe while old processes run.")
    return 0


def problems() -> dict[tuple[str, str, str], str]:
    """What the linter says of each migration after the baseline."""
    from django_migration_linter import MigrationLinter
    from django_migration_linter.sql_analyser import analyse_sql_statements

    linter = MigrationLinter(no_cache=True, analyser_string="postgresql")
    found = {}
    for app, name in sorted(linter.migration_loader.disk_migrations):
        if name > BASELINE.get(app, "~"):
            statements = linter.get_sql(app, name)
            errors, _, warnings = analyse_sql_statements(linter.sql_analyser_class, statements)
            migration = linter.migration_loader.disk_migrations[app, name]
            more, _, _ = linter.analyse_data_migration(migration)
            for issue in (*errors, *warnings, *more):
                found[app, name, issue.code] = issue.message
    return found


if __name__ == "__main__":
    sys.exit(main())
