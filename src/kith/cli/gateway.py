from __future__ import annotations

import asyncio
import os
import signal

import click
import uvloop

from kith.app import open_house
from kith.base import log
from kith.base.command_news import Written
from kith.base.counted_log import tell_rest
from kith.base.server import HttpServer, limits_from, listen
from kith.base.settings import BadSettings, Settings, load, split_bind
from kith.base.watchdog import Watchdog, notify
from kith.cli.gateway_tls import EncryptedGateway
from kith.cli.running import refuse_other_schema
from kith.cli.watching import start_watching

STOP_SECONDS = 8  # for what is under way; a container is killed after ten


@click.command()
def gateway() -> None:
    """Run the application gateway as a process of its own, beside the server and on its database."""
    uvloop.run(_run(load()))


async def _run(settings: Settings) -> None:
    await refuse_other_schema(settings)
    access_log = log.configure(settings)
    async with open_house(settings) as house:
        if settings.is_sqlite:
            house.news.relay = Written()  # the server looks for it
        stopping = asyncio.Event()
        for word in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(word, stopping.set)
        try:
            listener = listen(*split_bind(settings.gateway_bind, "gateway_bind"), shared=False)
        except OSError as error:
            words = f"cannot listen on {settings.gateway_bind}: {error.strerror}; set KITH_GATEWAY_BIND"
            raise BadSettings(words) from error
        server = HttpServer(house.gateway(access_log), listener, limits_from(settings), settings.trusted_proxies)
        start_watching(house)
        await server.start()
        encrypted = EncryptedGateway(house, access_log) if settings.gateway_tls_bind else None
        if encrypted is not None:
            await encrypted.start(settings)
        also = f" and with TLS on {settings.gateway_tls_bind}" if encrypted is not None else ""
        click.echo(f"The Kith gateway is listening on {settings.gateway_bind}{also}")
        notify("READY=1", os.environ)
        await stopping.wait()
        notify("STOPPING=1", os.environ)
        await server.stop(STOP_SECONDS)
        if encrypted is not None:
            await encrypted.stop()
        house.find(Watchdog).stop()
        tell_rest()
        access_log.flush()
