"""`manage.py local_llm`: a real, small language model on this machine, for trying things out."""

import asyncio
import contextlib
import signal
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from geval.llm.local_server import (
    BUNDLED_NAME,
    HOST,
    LocalLlmError,
    LocalModel,
    bundled_model,
    load,
    serve,
)


class Command(BaseCommand):
    help = (
        "Serve a language model on this machine with llama.cpp's server, until Ctrl-C: by default"
        " SmolLM2 with 135 million parameters, which shows how real replies look and rates at"
        " random."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8190, help="0 for any free port")
        parser.add_argument(
            "--model", type=Path, metavar="PATH", help="a GGUF file, instead of SmolLM2"
        )
        parser.add_argument(
            "--context",
            type=int,
            default=LocalModel.context,
            help="the most tokens of a prompt and its reply",
        )
        parser.add_argument(
            "--parallel",
            type=int,
            default=LocalModel.parallel,
            help="calls answered at once; also the largest n of a call",
        )
        parser.add_argument(
            "--threads", type=int, default=0, help="of the processor; 0 for one per core"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        for name in ("context", "parallel"):
            if options[name] < 1:
                raise CommandError(f"--{name} takes a whole number, at least 1.")
        try:
            path = options["model"] or bundled_model()
            model = LocalModel(
                path=path,
                name=path.stem if options["model"] else BUNDLED_NAME,
                context=options["context"],
                parallel=options["parallel"],
                threads=max(0, options["threads"]),
            )
            engine = load(model)
        except LocalLlmError as error:
            raise CommandError(str(error)) from None
        try:
            asyncio.run(self._serve(engine.listening_address, model, options["port"]))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {HOST}:{options['port']}: {error.strerror}. Choose another"
                " --port."
            ) from None

    async def _serve(self, upstream: str, model: LocalModel, port: int) -> None:
        def announce(bound: int) -> None:
            self.stdout.write(
                f"llama.cpp: http://{HOST}:{bound}/v1 (model {model.name}). Ctrl-C to stop."
            )
            self.stdout.flush()

        task = asyncio.ensure_future(
            serve(upstream, context=model.context, port=port, ready=announce)
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task
