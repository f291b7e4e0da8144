"""Load what can be loaded, and keep the rest with the reasons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.files.load_results import LoadResult
from geval.files.readers import InputFile
from geval.files.refused import RefusedRow, refused_rows, without_errors
from geval.files.rows import FileError, LoadError, LoadOptions

# Ratings of a refused output are refused in the next pass, and so on; this ends after few passes,
# or not at all.
MOST_ROUNDS = 5
# Refused rows stay in memory with their reasons; a file with more is in another format.
MOST_REFUSED = 10_000


@dataclass(frozen=True)
class RestLoaded:
    result: LoadResult
    refused: list[RefusedRow]


def load_rest(
    project: Project,
    files: Sequence[InputFile],
    *,
    about: LoadOptions,
    dry_run: bool,
    leave_out: bool,
    watch: Callable[[str], None] = lambda _step: None,
    most_errors: int = 100,
) -> RestLoaded:
    """Load files; with `leave_out`, skip the cells and rows that have errors.

    Raises:
        LoadError: there are errors that are not to be skipped, or that are not errors of rows.
    """
    whole, refused = files, list[FileError]()
    for _ in range(MOST_ROUNDS if leave_out else 0):
        try:
            result = load_files(
                project,
                files,
                about=about,
                dry_run=dry_run,
                most_errors=MOST_REFUSED,
                watch=watch,
            )
        except LoadError as error:
            if error.total > len(error.errors) or not all(refusal.line for refusal in error.errors):
                raise
            refused += error.errors
            files = [without_errors(file, error.errors) for file in files]
        else:
            return RestLoaded(result, refused_rows(whole, refused))
    result = load_files(
        project, files, about=about, dry_run=dry_run, most_errors=most_errors, watch=watch
    )
    return RestLoaded(result, refused_rows(whole, refused))
