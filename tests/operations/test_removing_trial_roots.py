"""A trial root is never removed while something of this machine is mounted in it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import CHECKOUT


@pytest.fixture(scope="module")
def platforms() -> ModuleType:
    spec = importlib.util.spec_from_file_location("platforms", CHECKOUT / ".ci" / "platforms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    import sys

    sys.modules["platforms"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("mount", "is_below"),
    [("/t/root/dev/shm", True), ("/t/root", True), ("/t/rooted", False), ("/t", False)],
)
def test_what_is_mounted_below_a_folder_is_found(
    platforms: ModuleType, mount: str, is_below: bool
) -> None:
    mounts = f"proc /proc proc rw 0 0\ntmpfs {mount} tmpfs rw 0 0\n"

    assert bool(platforms.mounted_below(Path("/t/root"), mounts)) is is_below


def test_a_root_with_a_mount_is_kept_with_all_its_files(
    platforms: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "dev" / "shm" / "segment"
    kept.parent.mkdir(parents=True)
    kept.touch()
    monkeypatch.setattr(platforms, "mounted_below", lambda *_: [str(kept.parent)])

    with pytest.raises(platforms.PlatformError, match="still mounted in it"):
        platforms.remove(tmp_path)
    assert kept.exists()

    monkeypatch.undo()
    platforms.remove(tmp_path)
    assert not tmp_path.exists()
