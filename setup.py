"""What pyproject.toml cannot say: templates and static files go into the wheel's package."""

import runpy
import shutil
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
# Read, not imported: the package itself needs all that it depends on.
COLLECTED = runpy.run_path(str(HERE / "geval_site" / "site_files.py"))["COLLECTED"]
# Installed applications whose static files the site's pages use.
WITH_STATIC_FILES = ("django.contrib.admin", "django_htmx", "ninja")
# Megabytes for another view of the API's documentation; another htmx, and its extensions.
UNUSED = ["redoc*", "htmax*", "htmx-4*", "ext"]
SOURCES = ("templates", "static")
DOCS = "docs_site"


class BuildWithSiteFiles(build_py):
    """Copies `templates/` and `static/` into the package, and collects all static files there."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return  # a checkout reads them from where they are
        package = Path(self.build_lib) / "geval_site"
        for name in (*SOURCES, COLLECTED):
            shutil.rmtree(package / name, ignore_errors=True)
        for name in SOURCES:
            shutil.copytree(HERE / name, package / name)
        collect_static_files(package / COLLECTED)
        # Built by `make docs`; a package without them says so at /docs/.
        shutil.rmtree(package / DOCS, ignore_errors=True)
        if (HERE / DOCS).is_dir():
            shutil.copytree(HERE / DOCS, package / DOCS)


def collect_static_files(target: Path) -> None:
    """Collect static files of the site and of its packages, hashed and compressed."""
    import django  # noqa: PLC0415
    from django.conf import settings  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from whitenoise.storage import CompressedManifestStaticFilesStorage  # noqa: PLC0415

    # Modules then import each other by their hashed names, so browsers never mix two versions.
    CompressedManifestStaticFilesStorage.support_js_module_import_aggregation = True
    with TemporaryDirectory() as plotly:
        shutil.copy(_folder_of("plotly") / "package_data" / "plotly.min.js", plotly)
        settings.configure(
            INSTALLED_APPS=["django.contrib.staticfiles"],
            STATIC_URL="static/",
            STATIC_ROOT=target,
            STATICFILES_DIRS=[
                HERE / "static",
                ("plotly", plotly),
                *(_folder_of(name) / "static" for name in WITH_STATIC_FILES),
            ],
            STORAGES={
                "staticfiles": {
                    "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
                }
            },
            WHITENOISE_KEEP_ONLY_HASHED_FILES=True,
        )
        django.setup()
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=UNUSED)


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None, package
    assert spec.submodule_search_locations, package
    return Path(spec.submodule_search_locations[0])


setup(cmdclass={"build_py": BuildWithSiteFiles})
