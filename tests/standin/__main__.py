"""`python -m tests.standin --port 0 [switches]`: serve the stand-in with faults until a signal."""

import asyncio
import contextlib
import signal
import sys
from argparse import ArgumentParser
from dataclasses import fields

from geval.standin.server import serve
from geval.texts.stand_in import HONEST_NAME, MODEL
from tests.standin.server import FaultyStandIn, Switches


async def run(standin: FaultyStandIn, port: int) -> None:
    def say(bound: int) -> None:
        sys.stdout.write(f"{HONEST_NAME}: http://127.0.0.1:{bound}/v1 (model {MODEL}).\n")
        sys.stdout.flush()

    task = asyncio.ensure_future(serve(standin, host="127.0.0.1", port=port, ready=say))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    for switch in fields(Switches):
        option = f"--{switch.name.replace('_', '-')}"
        if switch.type is bool:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=switch.type, default=switch.default)
    options = vars(parser.parse_args())
    port = options.pop("port")
    asyncio.run(run(FaultyStandIn(Switches(**options)), port))
