"""Images built and processes run with buildah, which needs no daemon and no registry."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from tests.conftest import CHECKOUT

# What Debian's slim images leave out, and Perl, which nothing here uses.
LEFT_OUT = ("man", "doc", "locale", "info")
PERL = "perl perl-modules-5.36 libperl5.36 libfile-find-rule-perl"
# How this machine's package manager finds packages, which the build is told, too.
HANDED_ON = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf", "/opt/pypi")
# Written anew by the engine each time it runs something.
OF_THE_ENGINE = ("run/.containerenv", "etc/hosts", "etc/resolv.conf")


def run(*command: str | Path, timeout: float = 1500) -> str:
    done = subprocess.run(
        [str(part) for part in command], cwd=CHECKOUT, capture_output=True, text=True,
        timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def make_base(archive: Path) -> None:
    """A small Debian with Python as a tar archive."""
    excluded = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT]
    run(
        "mmdebstrap", "--quiet", "--variant=minbase",
        "--include=python3,python3-venv,ca-certificates", *excluded,
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f'--customize-hook=chroot "$1" apt-get -q -y purge {PERL} || true', "bookworm", archive,
    )  # fmt: skip


class Buildah:
    """Images and containers in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.options = ["--root", str(folder / "root"), "--runroot", str(folder / "run")]

    def __call__(self, *arguments: str | Path, timeout: float = 1500) -> str:
        return run("buildah", *self.options, *arguments, timeout=timeout)

    def add_base(self, archive: Path, name: str) -> None:
        container = self("from", "scratch").strip()
        self("add", "--quiet", container, archive, "/")
        self("commit", "--quiet", container, name)
        self("rm", container)

    def build(self, name: str, *, base: str) -> None:
        volumes = [f"--volume={path}:{path}:ro" for path in HANDED_ON if Path(path).exists()]
        self(
            "bud", "--isolation", "chroot", "--network", "host", "--format", "docker",
            "--build-arg", f"BASE={base}", *volumes, "--tag", name, "--file", "Containerfile", ".",
        )  # fmt: skip

    def looked_at(self, image: str) -> dict[str, Any]:
        """The image's configuration, as engines read it."""
        found: dict[str, Any] = orjson.loads(self("inspect", "--type", "image", image))
        return found["Docker"]

    def remove_everything(self) -> None:
        self("rm", "--all")
        self("rmi", "--all", "--force")
        # The storage mounts its own folder onto itself, and leaves it so.
        for place in (self.folder / "root").glob("*/"):
            subprocess.run(["umount", place], capture_output=True, check=False)


class Container:
    """A copy of the image, and one process in it; `/tmp` and the data folder are volumes."""

    def __init__(
        self, buildah: Buildah, image: str, volumes: Path, *, user: int, **environment: str
    ) -> None:
        self.buildah, self.environment = buildah, environment
        self.name = buildah("from", "--pull-never", image).strip()
        self.root = Path(buildah("mount", self.name).strip())
        self.volumes = {volumes / "data": "/var/lib/geval-site", volumes / "tmp": "/tmp"}
        for folder in self.volumes:
            folder.mkdir(parents=True)
            os.chown(folder, user, user)
        self.log = volumes / "log"
        self.process: subprocess.Popen[bytes] | None = None
        # Engines put files such as /etc/hosts there at the first run.
        self.command("true")
        self.before = self.files()

    def _run(self, command: Sequence[str]) -> list[str]:
        volumes = [f"--volume={ours}:{theirs}" for ours, theirs in self.volumes.items()]
        settings = [f"--env={name}={value}" for name, value in self.environment.items()]
        return [
            "buildah", *self.buildah.options, "run", "--isolation", "chroot", "--network", "host",
            *volumes, *settings, self.name, "--", *command,
        ]  # fmt: skip

    def command(self, *command: str) -> str:
        """What a command printed, once it is done."""
        return run(*self._run(command), timeout=300)

    def start(self, *command: str) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._run(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def inside(self) -> list[int]:
        """The processes in the container, the first of them first."""
        assert self.process
        found = []
        for pid in descendants(self.process.pid):
            try:
                root = Path(f"/proc/{pid}/root").readlink()
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            # The last of buildah's own processes is in there, too, and takes no signals.
            if root != Path("/") and not line.startswith(b"buildah"):
                found.append(pid)
        return found

    def send(self, number: signal.Signals) -> None:
        """A signal to the first process, as engines send it."""
        os.kill(self.inside()[0], number)

    def kill(self) -> None:
        """End everything in it at once, as a machine that is switched off does."""
        for pid in self.inside():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        assert self.process
        self.process.wait(30)

    def files(self) -> dict[str, tuple[int, ...]]:
        """Everything on the image's file system, without folders' times."""
        places = {}
        for folder, _, names in os.walk(self.root):
            for path in (Path(folder), *(Path(folder) / name for name in names)):
                at = path.lstat()
                times = () if path.is_dir() else (at.st_size, at.st_mtime_ns)
                places[str(path.relative_to(self.root))] = (at.st_mode, at.st_uid, *times)
        return places

    def written(self) -> list[str]:
        """What has changed outside the volumes since the start."""
        now = self.files()
        changed = (
            path
            for path in now.keys() | self.before.keys()
            if now.get(path) != self.before.get(path)
        )
        return sorted(set(changed) - set(OF_THE_ENGINE))

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.kill()


def descendants(pid: int) -> list[int]:
    """A process's children, theirs and so on, each before its children."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(one) for t in tasks for one in (t / "children").read_text().split()]
    except OSError:
        return []
    return [found for child in children for found in (child, *descendants(child))]


class Server:
    """A server of this machine, run by an ordinary user in a folder of its own."""

    def __init__(
        self, command: Sequence[str], folder: Path, *, user: str, env: Mapping[str, str]
    ) -> None:
        self.log = folder / "log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                list(command), cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                user=user, group=user, extra_groups=[], env={**env, "HOME": str(folder)},
                start_new_session=True,
            )  # fmt: skip

    def stop(self) -> None:
        for pid in (*descendants(self.process.pid), self.process.pid):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
        self.process.wait(60)


def wait_for(condition: Callable[[], bool], what: str, *, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited for {what} in vain"
        time.sleep(0.2)


def missing_programs(*names: str) -> list[str]:
    return [name for name in names if not shutil.which(name)]
