"""`manage.py standin_llm`: an OpenAI-compatible server for the demo. Not an LLM."""

import asyncio
import contextlib
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from geval.standin.server import StandIn, serve
from geval.texts.stand_in import HONEST_NAME, MODEL


class Command(BaseCommand):
    help = "Serve a stand-in for an LLM, which rates texts by their words."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=8189, help="0 for any free port (default: 8189)"
        )
        parser.add_argument("--host", default="127.0.0.1")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            asyncio.run(self._serve(options["host"], options["port"]))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {options['host']}:{options['port']}: {error.strerror}."
            ) from None

    async def _serve(self, host: str, port: int) -> None:
        def say(bound: int) -> None:
            self.stdout.write(
                f"{HONEST_NAME}: http://{host}:{bound}/v1 (model {MODEL}). Ctrl-C to stop."
            )
            self.stdout.flush()

        task = asyncio.ensure_future(serve(StandIn(), host=host, port=port, ready=say))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task
