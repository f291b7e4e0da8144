"""What `make update` writes: names, versions, markers and hashes of packages, and nothing else."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import CHECKOUT

A, B = f"--hash=sha256:{'a' * 64}", f"--hash=sha256:{'b' * 64}"
LOCK = f"""\
aiohttp==3.14.5 \\
    {A} \\
    {B}
tzdata==2026.6 ; sys_platform == 'win32' \\
    {B}
"""


@pytest.fixture(scope="module")
def renewing() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("renewing", CHECKOUT / ".ci" / "update.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["renewing"] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["renewing"]


def test_the_lock_that_is_there_is_written_again_as_it_is(renewing: ModuleType) -> None:
    for name in renewing.LOCKS:
        text = (CHECKOUT / name).read_text()
        assert renewing.locked(text) == text


def test_comments_are_left_out_and_markers_stay(renewing: ModuleType) -> None:
    assert renewing.locked(f"# by some tool\n{LOCK}") == LOCK


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.org/simple",
        "--find-links /home/kim/wheels",
        "-e .",
        "django @ https://example.org/django.whl",
        "django>=5",
        f"django==5.2.1 ; python_version > '3' # {Path.home()}",
    ],
)
def test_anything_else_is_refused(renewing: ModuleType, line: str) -> None:
    with pytest.raises(renewing.UpdateError, match="not a name, a version or a hash"):
        renewing.locked(f"{LOCK}{line}\n")


@pytest.mark.parametrize(("text", "said"), [("", "no packages"), ("a==1\n", "without hashes: a")])
def test_half_a_lock_is_refused(renewing: ModuleType, text: str, said: str) -> None:
    with pytest.raises(renewing.UpdateError, match=said):
        renewing.locked(text)


def test_a_package_with_a_version_for_each_platform_is_refused(renewing: ModuleType) -> None:
    pins = renewing.read_pins("n==1 ; os_name == 'nt'\nN==2 ; os_name != 'nt'\n")

    with pytest.raises(renewing.UpdateError, match="N would need 1 on one platform and 2"):
        renewing.versions(pins)


def test_constraints_keep_spellings_and_get_what_the_locks_need(renewing: ModuleType) -> None:
    before = "# old\nCacheControl==1\ngone==1\ntorch==2\n"
    resolved = {"cachecontrol": "2", "torch": "3", "brand-new": "1", "only-for-cuda": "12"}

    after = renewing.constraints(before, resolved, {"cachecontrol", "brand-new"})

    assert after == renewing.HEADER + "brand-new==1\nCacheControl==2\ntorch==3\n"


def test_what_changed_is_said_package_by_package(renewing: ModuleType) -> None:
    assert renewing.changes({"a": "1", "b": "1", "c": "1"}, {"a": "2", "c": "1", "d": "4"}) == [
        "a 1 → 2",
        "b 1 → (gone)",
        "d (new) → 4",
    ]


def test_an_unknown_package_is_refused_before_anything_runs(
    renewing: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "constraints.txt").write_text("django==5.2.1\n")

    with pytest.raises(renewing.UpdateError, match="does not name dajngo"):
        renewing.update(tmp_path, ["Django", "dajngo"])


def test_nothing_is_written_if_one_file_cannot_be(renewing: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "b.new").mkdir()

    with pytest.raises(OSError, match="directory"):
        renewing._write(tmp_path, {"a": "new", "b": "new"})

    assert (tmp_path / "a").read_text() == "old"
