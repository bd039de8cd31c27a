"""Apache, started with a module that lets people in: what its tests have in common."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import httpx

from tests.town.debian import need
from tests.town.plain import PLAIN

MODULES = "/usr/lib/apache2/modules"
_LOADED = ("mpm_event", "authn_core", "authz_core", "authz_user", "dir", "include", "mime", "rewrite")
_CONFIGURATION = """
ServerRoot "{folder}"
ServerName localhost
Listen 127.0.0.1:{port}
PidFile "{folder}/pid"
ErrorLog "{folder}/error.log"
LogLevel warn {module}:debug
User www-data
Group www-data
DocumentRoot "{folder}/pages"
DirectoryIndex index.shtml
TypesConfig /dev/null
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
{modules}
<Directory "{folder}/pages">
    Options +Includes
    Require all granted
</Directory>
{rules}
"""


class Apache:
    """One with the module `module` of the Debian package `package`; `secret` is the page behind it."""

    def __init__(self, folder: Path, port: int, module: str, package: str, secret: str) -> None:
        need("/usr/sbin/apache2", "apache2", package)
        need(f"{MODULES}/mod_{module}.so", package)
        self.folder = folder
        self.port = port
        self.url = f"http://localhost:{port}"
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._write_pages(secret)

    def _write_pages(self, secret: str) -> None:
        for name, text in (("", "<!doctype html><title>Open</title><h1>Open</h1>"), ("secret", secret)):
            page = self.folder / "pages" / name / "index.shtml"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
        self.open_files()

    def open_files(self) -> None:
        """Apache gives up its rights, and must still read what is there."""
        for one in (self.folder, *self.folder.rglob("*")):
            one.chmod(0o755 if one.is_dir() else 0o644)

    async def start(self, rules: str) -> None:
        loaded = "\n".join(f'LoadModule {name}_module "{MODULES}/mod_{name}.so"' for name in (*_LOADED, self._module))
        values = {"folder": self.folder, "port": self.port, "modules": loaded, "module": self._module, "rules": rules}
        configuration = self.folder / "apache.conf"
        configuration.write_text(_CONFIGURATION.format(**values))
        self._process = subprocess.Popen(["/usr/sbin/apache2", "-DFOREGROUND", "-f", str(configuration)])
        await self._until_it_answers()

    async def _until_it_answers(self) -> None:
        async with asyncio.timeout(30), httpx.AsyncClient(verify=PLAIN) as http:
            while True:
                assert self._process is not None
                assert self._process.poll() is None, self.log()
                try:
                    await http.get(f"{self.url}/")
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
                else:
                    return

    def log(self) -> str:
        found = self.folder / "error.log"
        return found.read_text()[-4000:] if found.exists() else ""

    async def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            await asyncio.to_thread(self._process.wait)
            self._process = None
