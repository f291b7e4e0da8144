"""The README's two commands on clean systems: each release of Debian and Ubuntu, with its Python.

`make test-platforms` (root, mmdebstrap) bootstraps a root of each release, clones the checkout into
it, and runs `make demo SERVE=0` and `make test` there as an ordinary user. A release whose Python
is too old has to say so. It ends with a table, and fails where a release does.

The roots use this machine's network, its certificates and its settings of pip.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
KEYS = Path("usr/share/keyrings/ubuntu-archive-keyring.gpg")
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")
# What the README asks for, certificates to download with, and `useradd`.
PACKAGES = "python3,python3-venv,make,git,ca-certificates,passwd"
OLDEST = (3, 11)
TOO_OLD = "Python 3.11 or newer is needed"
PASSED = re.compile(r"PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT)|SSL_CERT_FILE|(https?|no)_proxy", re.I)
USER, USER_ID = "visitor", "1000"
HOME = f"/home/{USER}"
# A namespace of mounts that ends with its command, and so do all its processes. Bootstrapping is in
# one as well: it mounts this machine's /dev/shm into the root, and would leave it there if killed.
APART = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
IN_ROOT = """
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"
"""


@dataclass(frozen=True)
class Release:
    """A release with where it is bootstrapped from."""

    suite: str
    title: str
    mirror: str = DEBIAN


RELEASES = (
    Release("bullseye", "Debian 11"),
    Release("bookworm", "Debian 12"),
    Release("trixie", "Debian 13"),
    Release("forky", "Debian 14 (testing)"),
    Release("focal", "Ubuntu 20.04", UBUNTU),
    Release("jammy", "Ubuntu 22.04", UBUNTU),
    Release("noble", "Ubuntu 24.04", UBUNTU),
    Release("questing", "Ubuntu 25.10", UBUNTU),
    Release("resolute", "Ubuntu 26.04", UBUNTU),
)


class PlatformError(Exception):
    """A step failed; the message says which, and ends with what it printed."""


def run(command: Sequence[str | Path], step: str) -> str:
    """What a command prints.

    Raises:
        PlatformError: it fails.
    """
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise PlatformError(f"{step} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def ubuntus_keys(folder: Path) -> Path:
    """The keys that Ubuntu signs with: this machine's, or those of Debian's package."""
    if (own := "/" / KEYS).exists():
        return own
    keys = folder / "keys"
    if not keys.exists():
        run(
            [*APART, "mmdebstrap", "--variant=extract", "--include=ubuntu-archive-keyring",
             "trixie", keys, DEBIAN],
            "Getting Ubuntu's keys",
        )  # fmt: skip
    return keys / KEYS


def bootstrap(release: Release, folder: Path) -> Path:
    """A clean root with what the README asks for, an ordinary user, and a clone of the checkout."""
    root = folder / release.suite
    # A mirror that lags behind is as good for this; an older apt lacks the solver of a newer one.
    options: list[str | Path] = [
        f"--include={PACKAGES}",
        '--aptopt=Acquire::Check-Valid-Until "false"',
        '--aptopt=APT::Solver "internal"',
        '--aptopt=Binary::apt-get::APT::Solver "internal"',
    ]
    if release.mirror == UBUNTU:
        options += ["--components=main,universe", f"--keyring={ubuntus_keys(folder)}"]
    run(
        [
            *APART,
            "mmdebstrap",
            "--variant=apt",
            "--dpkgopt=force-unsafe-io",
            *options,
            release.suite,
            root,
            release.mirror,
        ],
        "Bootstrapping",
    )
    for path in (CERTIFICATES, Path("etc/resolv.conf")):
        shutil.copyfile("/" / path, root / path)
    # Installers write it; without it only newer C libraries know the name.
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    run(["chroot", root, "useradd", "--create-home", "--uid", USER_ID, USER], "Adding a user")
    copy = root / HOME.lstrip("/") / "geval"
    run(["git", "clone", "--quiet", "--depth", "1", f"file://{CHECKOUT}", copy], "Cloning")
    run(["chroot", root, "chown", "--recursive", f"{USER}:{USER}", HOME], "Cloning")
    return root


def as_visitor(root: Path, *command: str) -> str:
    """What a command prints, run in the checkout of a root by its ordinary user."""
    passed = [f"{name}={value}" for name, value in os.environ.items() if PASSED.fullmatch(name)]
    environment = [f"HOME={HOME}", "PATH=/usr/bin:/bin", "LANG=C.UTF-8", *passed]
    inside = ["sh", "-c", 'cd "$0" && exec "$@"', f"{HOME}/geval", *command]
    return run(
        [*APART, "sh", "-c", IN_ROOT, root,
         "setpriv", "--reuid", USER_ID, "--regid", USER_ID, "--clear-groups",
         "env", "--ignore-environment", *environment, *inside],
        f"`{' '.join(command)}`",
    )  # fmt: skip


def mounted_below(folder: Path, mounts: str) -> list[str]:
    """What is mounted in a folder, by the lines of /proc/mounts."""
    places = (line.split()[1] for line in mounts.splitlines())
    return [place for place in places if Path(place).is_relative_to(folder)]


def remove(folder: Path) -> None:
    """Remove roots, unless something of this machine is mounted in them: removing it would empty
    that as well.

    Raises:
        PlatformError: something is mounted there; the message says what to do.
    """
    if mounted := mounted_below(folder.resolve(), Path("/proc/mounts").read_text()):
        raise PlatformError(
            f"{folder} is kept, because these are still mounted in it: {', '.join(mounted)}."
            " Unmount them, then remove it."
        )
    shutil.rmtree(folder, ignore_errors=True)


def try_release(release: Release, folder: Path, tests: str) -> tuple[str, str]:
    """The release's Python, and what came of the two commands.

    Raises:
        PlatformError: something fails that should not.
    """
    root = bootstrap(release, folder)
    version = as_visitor(root, "python3", "--version").split()[1]
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        try:
            as_visitor(root, "make", "demo", "SERVE=0")
        except PlatformError as error:
            if TOO_OLD in str(error):
                return version, "too old, as `make demo` says"
            raise
        raise PlatformError(f"`make demo` takes Python {version}.")
    results = []
    for command in (["make", "demo", "SERVE=0"], ["make", "test", f"TESTS_OF={tests}"]):
        started = time.monotonic()
        printed = as_visitor(root, *command).strip()
        results.append(f"{' '.join(command[:2])} {time.monotonic() - started:.0f} s")
    return version, f"{', '.join(results)}: {printed.splitlines()[-1].strip('= ')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", nargs="*", help="only these, by their suites")
    parser.add_argument("--tests-of", default="", help="as TESTS_OF of `make test`")
    options = parser.parse_args()
    wanted = [
        release for release in RELEASES if not options.releases or release.suite in options.releases
    ]
    rows, failed = [], False
    # Not a TemporaryDirectory: that removes whatever is mounted in it.
    folder = Path(tempfile.mkdtemp(prefix="geval-platforms-"))
    try:
        for release in wanted:
            sys.stdout.write(f"{release.title} ({release.suite}) …\n")
            sys.stdout.flush()
            try:
                version, result = try_release(release, folder, options.tests_of)
            except PlatformError as error:
                failed, version, result = True, "", "failed"
                sys.stdout.write(f"{error}\n")
            rows.append(f"{release.title:20}  {version:8}  {result}")
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
            remove(folder / release.suite)
    finally:
        remove(folder)
    sys.stdout.write("\n".join(["", *rows, ""]))
    sys.exit(failed)


if __name__ == "__main__":
    main()
