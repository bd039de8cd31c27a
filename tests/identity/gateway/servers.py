"""nginx, Caddy and HAProxy as Debian ships them, with a configuration of our own, on ports of this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from tests.town.debian import find_program

__all__ = ["caddy", "haproxy", "nginx", "running"]

_NGINX = """
daemon off;
master_process off;
worker_processes 1;
error_log stderr warn;
pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""


@asynccontextmanager
async def nginx(folder: Path, servers: str, port: int) -> AsyncIterator[int]:
    """Started with these server blocks, until it listens on `port`; its process id."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "nginx.conf"
    settings.write_text(_NGINX.format(folder=folder, servers=servers))
    async with running([find_program("nginx", "nginx-light"), "-c", str(settings), "-p", str(folder)], port) as pid:
        yield pid


@asynccontextmanager
async def caddy(folder: Path, sites: str, port: int) -> AsyncIterator[int]:
    """Started with these sites; it asks nobody for certificates."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "Caddyfile"
    settings.write_text(f"{{\n    admin off\n    auto_https off\n}}\n{sites}")
    words = [find_program("caddy", "caddy"), "run", "--config", str(settings), "--adapter", "caddyfile"]
    async with running(words, port, HOME=str(folder), XDG_DATA_HOME=str(folder)) as pid:
        yield pid


@asynccontextmanager
async def haproxy(folder: Path, text: str, port: int) -> AsyncIterator[int]:
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "haproxy.cfg"
    settings.write_text(text)
    async with running([find_program("haproxy", "haproxy"), "-db", "-f", str(settings)], port) as pid:
        yield pid


@asynccontextmanager
async def running(words: list[str], port: int, **environment: str) -> AsyncIterator[int]:
    with tempfile.TemporaryFile() as complaints:  # not a pipe: whoever fills one stands still
        process = subprocess.Popen(
            words, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=complaints, process_group=0
        )
        try:
            await _until_it_listens(process, port, complaints)
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait)


async def _until_it_listens(process: subprocess.Popen[bytes], port: int, complaints: IO[bytes]) -> None:
    async with asyncio.timeout(30):
        while True:
            if process.poll() is not None:
                complaints.seek(0)
                raise AssertionError(complaints.read().decode())
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
