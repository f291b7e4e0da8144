"""Archives pass the rules of forms: what no form takes comes in by no file, with its place; all of
it or nothing."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator

import pytest
from django.db import transaction

from annotations.models import Rating
from evaluations.models import Project
from evaluations.projects.archive.read import read_archive
from evaluations.reports.report import build_report
from geval.files.archive.record_file import ArchiveError
from geval.files.archive.shapes import MOST_NAMES
from geval.files.limits import has_more_names
from geval.reports.downloads.report_json import as_json
from tests.archive.test_round_trip import archived, changed
from tests.hostile_files import zip_of_many

pytestmark = pytest.mark.django_db
Edit = Callable[[dict[str, object]], object]
DEEP = json.loads("[" * 60 + "]" * 60)


def edited(project: Project, name: str, edit: Edit) -> io.BytesIO:
    """The archive of a project with the first row of a file changed."""

    def change(data: bytes) -> bytes:
        first, *rest = data.splitlines(keepends=True)
        row = json.loads(first)
        edit(row)
        return json.dumps(row).encode() + b"\n" + b"".join(rest)

    return changed(archived(project), **{f"{name}_jsonl": change})


def setting(**values: object) -> Edit:
    return lambda row: row.update(values)


@pytest.mark.parametrize(
    ("name", "edit", "said"),
    [
        (
            "judges",
            setting(concurrency=300_000),
            "concurrency Ensure this value is less than or equal to 512",
        ),
        ("judges", setting(temperature=float("inf")), "line 1: "),
        ("judges", setting(samples=10**30), "samples"),
        ("judges", setting(settings=[]), "settings: input should be an object"),
        ("judges", setting(mode="psychic"), "which is not one of"),
        (
            "judges",
            setting(name="n" * 201, judge="n" * 201),
            "Ensure this value has at most 200 characters",
        ),
        ("judges", setting(price_in="NaN"), "price_in is not an amount"),
        ("criteria", setting(scale_step=1e-9), "A scale has at most 1001 points"),
        ("criteria", setting(scale_max=float("nan")), "line 1: "),
        ("criteria", setting(scale_max="5"), "scale_max is not a number"),
        ("criteria", setting(scale_labels={"9": "Off"}), "names a point that is not on the scale"),
        ("criteria", setting(position=-1), "position"),
        ("ratings", setting(score=1e308), "score is not a number that can be stored"),
        ("ratings", setting(score=True), "score is not a number"),
        ("ratings", setting(created_at="infinity"), "created_at is not a date"),
        ("ratings", setting(created_at="9999-12-31T00:00:00+00:00"), "created_at is not a date"),
        ("ratings", setting(scores_in_sight="yes"), "is neither true nor false"),
        ("endpoints", setting(base_url="file:///etc/passwd"), "is not an address like"),
        ("endpoints", setting(base_url="http://169.254.169.254/v1"), "metadata service"),
        ("endpoints", setting(requests_per_minute=0), "requests_per_minute"),
        ("endpoints", setting(parallel_calls=0), "parallel_calls"),
        ("outputs", setting(output="a\0b"), "output is not a text"),
        ("documents", setting(references=[5]), "references: 0: input should be a valid string"),
        ("documents", setting(metadata="x"), "metadata: input should be an object"),
        ("runs", lambda row: row["parameters"].update(concurrency=300_000), "concurrency"),  # type: ignore[attr-defined]
        ("runs", setting(state="flying"), "which is not one of"),
        ("runs", setting(state="running"), "runs of an archive are paused or over"),
        ("runs", setting(state="preparing"), "runs of an archive are paused or over"),
        ("items", setting(state="leased"), "no worker of another site is at it"),
        ("items", setting(state="sent"), "no worker of another site is at it"),
        ("documents", setting(metadata={"a": None}), "metadata: a: input should be"),
        ("outputs", setting(output_turns=[1]), "output_turns: 0: input should be an object"),
        ("judges", setting(settings={"a": DEEP}), "nested too deeply"),
        ("runs", setting(parameters=5), "parameters: input should be an object"),
        ("scores", setting(distribution=[1]), "distribution: input should be an object"),
    ],
)
def test_what_no_form_takes_is_refused_with_its_file_and_line(
    judged_project: Project, name: str, edit: Edit, said: str
) -> None:
    archive = edited(judged_project, name, edit)

    with pytest.raises(ArchiveError) as refused:
        read_archive(archive, slug="copy")

    assert f"{name}.jsonl, line 1: " in str(refused.value)
    assert said in str(refused.value)
    assert list(Project.objects.values_list("slug", flat=True)) == ["small"]


def test_a_zip_of_thousands_of_files_is_refused_before_its_directory_is_read() -> None:
    with pytest.raises(ArchiveError, match="This zip has thousands of files"):
        read_archive(io.BytesIO(zip_of_many(2000)))


@pytest.mark.parametrize("manifest", [b"[]", b"5", b'{"format": 5}', b"\xff", b"[" * 10**5, b""])
def test_a_manifest_that_is_none_is_refused(small_project: Project, manifest: bytes) -> None:
    with pytest.raises(ArchiveError):
        read_archive(
            changed(archived(small_project), manifest_json=lambda _data: manifest), slug="copy"
        )


def flipped(content: bytes, step: int) -> Iterator[bytes]:
    for at in range(0, len(content), step):
        yield content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def numbers_of(project: Project) -> dict[str, object]:
    return json.loads(as_json(build_report(project))) | {"project": "any"}


def all_flips_load_the_same_or_are_refused(project: Project, step: int) -> tuple[int, int]:
    """How many archives with one byte flipped came in, all of them equal, and how many were
    refused."""
    content = archived(project).getvalue()
    expected, ratings = numbers_of(project), Rating.objects.count()
    loaded = refused = 0
    for number, broken in enumerate(flipped(content, step)):
        try:
            with transaction.atomic():
                copy = read_archive(io.BytesIO(broken), slug=f"copy-{number}")
                assert numbers_of(copy) == expected
                transaction.set_rollback(True)
            loaded += 1
        except ArchiveError:
            refused += 1
        assert (Project.objects.count(), Rating.objects.count()) == (1, ratings)
    return loaded, refused


def test_a_flipped_byte_is_an_error_or_makes_no_difference(small_project: Project) -> None:
    loaded, refused = all_flips_load_the_same_or_are_refused(small_project, step=97)

    # Of a small archive about half are headers, of which nothing is read but the names.
    assert refused > loaded / 2


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_cannot_be_unpacked_part_by_part_is_refused_unopened(
    small_project: Project, method: int
) -> None:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(archived(small_project)) as archive,
        zipfile.ZipFile(packed, "w", method) as again,
    ):
        for name in archive.namelist():
            again.writestr(name, archive.read(name))
    packed.seek(0)

    with pytest.raises(ArchiveError, match="packed by a method that this site does not unpack"):
        read_archive(packed, slug="copy")


def test_a_directory_for_thousands_of_files_is_refused_whatever_its_end_says(
    small_project: Project,
) -> None:
    content = archived(small_project).getvalue()
    end = content.rindex(b"PK\5\6")
    record = b"PK\6\6" + bytes(36) + (2**20).to_bytes(8, "little") + bytes(8)
    locators = [b"PK\6\7" + bytes(4) + at.to_bytes(8, "little") + bytes(4) for at in (end, 0)]

    for locator in locators:
        with pytest.raises(ArchiveError, match="thousands of files"):
            read_archive(io.BytesIO(content[:end] + record + locator + content[end:]), slug="copy")
    # An end of its own is none of a large zip.
    assert read_archive(io.BytesIO(content), slug="copy")


@pytest.mark.parametrize(("more", "is_refused"), [(0, False), (1, True)])
def test_a_field_has_a_limited_number_of_names(more: int, is_refused: bool) -> None:
    names = {str(number): [1, 2] for number in range(MOST_NAMES - 1 + more)}

    assert has_more_names([{"a": names}], MOST_NAMES) is is_refused
    assert not has_more_names([1] * (MOST_NAMES + 1), MOST_NAMES)
