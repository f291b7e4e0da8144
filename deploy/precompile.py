"""Compile the modules that processes of the site load: `python deploy/precompile.py`.

A file system that is read-only keeps no bytecode, so the image brings it; of everything that is
installed it would be 80 MB, most of which nothing imports.
"""

import importlib
import os
import pkgutil
import py_compile
import sys
import tempfile

OURS = ("geval", "geval_site", "evaluations", "annotations", "assurance")
# Imported only when they are needed, or by name.
LATER = (
    "celery.bin.worker", "celery.concurrency.prefork", "celery.concurrency.thread",
    "celery.apps.worker", "celery.worker.components", "celery.worker.consumer.gossip",
    "kombu.transport.pyamqp", "kombu.transport.redis", "gunicorn.app.wsgiapp",
    "gunicorn.workers.gthread", "django.core.mail.backends.smtp", "whitenoise.storage",
    "nltk.translate.meteor_score", "sacrebleu",
    "rouge_score.rouge_scorer", "gepa", "openai", "aiohttp", "scipy.stats", "scipy.optimize",
    "scipy.special", "scipy.sparse", "psycopg_pool", "pgmq",
)  # fmt: skip
OPTIONAL = ("allauth", "pandas", "polars", "pyarrow", "torch", "transformers")
COMMANDS = "django.core.management.commands"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(GEVAL_MODE="local", GEVAL_DATA_DIR=folder)
        os.environ["DJANGO_SETTINGS_MODULE"] = "geval_site.settings"
        import django  # noqa: PLC0415

        django.setup()
        for name in (*LATER, *modules(COMMANDS), *(m for ours in OURS for m in modules(ours))):
            load(name)
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    found = sorted(file for file in files if file and file.endswith(".py"))
    for file in found:
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(file, doraise=True, quiet=1, invalidation_mode=mode)
    print(f"{len(found)} modules compiled")  # noqa: T201


def modules(package: str) -> list[str]:
    """A package's modules by name; those that start a program when they are imported left out."""
    path = importlib.import_module(package).__path__
    found = (info.name for info in pkgutil.walk_packages(path, f"{package}."))
    return [name for name in found if not name.endswith(("__main__", ".web_server", ".openid"))]


def load(name: str) -> None:
    """Import a module; one that needs an optional package is left to those who have it."""
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in OPTIONAL:
            raise


if __name__ == "__main__":
    main()
