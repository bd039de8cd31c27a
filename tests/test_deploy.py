"""The files in deploy/: each by the program that will read it, and the proxies in front of a running server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import SharedTowns
from tests.identity.gateway.servers import caddy, nginx
from tests.social.members import join
from tests.social.push_service import self_signed
from tests.social.streams import listen, open_socket
from tests.town.debian import find_program
from tests.town.ports import ReservedPort

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
BIN = Path(sys.executable).parent


def _run(*words: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


LINTERS: dict[str, Sequence[str | Path]] = {
    "dockerfile": (BIN / "hadolint", ROOT / "Dockerfile"),
    "compose": (BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml"),
    "kubernetes": (BIN / "kubernetes-validate", "--strict", *sorted((DEPLOY / "kubernetes").glob("*.yaml"))),
}


@pytest.mark.parametrize("name", LINTERS)
def test_its_own_linter_has_nothing_to_say(name: str) -> None:
    _run(*LINTERS[name])


@pytest.mark.parametrize("name", ["kith", "kith-work"])
def test_systemd_understands_the_units_and_finds_them_well_guarded(name: str, tmp_path: Path) -> None:
    program = find_program("systemd-analyze", "systemd")
    unit = tmp_path / f"{name}.service"
    # where the program is on a machine that has been set up
    unit.write_text((DEPLOY / f"systemd/{name}.service").read_text().replace("/opt/kith/.venv/bin", str(BIN)))

    assert "kith" not in _run(program, "verify", unit, SYSTEMD_LOG_LEVEL="warning")
    [exposure] = re.findall(r"exposure level for .*: ([0-9.]+)", _run(program, "security", "--offline=true", unit))
    assert float(exposure) < 1.7


def test_what_the_containers_must_not_have_they_do_not_have() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    pods: list[dict[str, Any]] = [
        one["spec"]["template"]["spec"]
        for path in (DEPLOY / "kubernetes").glob("*.yaml")
        for one in yaml.safe_load_all(path.read_text())
        if one["kind"] in ("Deployment", "Job")
    ]

    for service in compose["services"].values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert len(pods) == 3
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        [container] = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert not container["securityContext"]["allowPrivilegeEscalation"]


def test_a_reload_has_the_server_replaced() -> None:
    assert "\nExecReload=/bin/kill -HUP $MAINPID\n" in (DEPLOY / "systemd/kith.service").read_text()


def test_where_the_documentation_has_backups_go_the_services_may_write() -> None:
    page = (ROOT / "docs/backup.md").read_text()
    [place] = set(re.findall(r"kith backup (/\S+)", page))
    assert f"KITH_BACKUP={place}\n" in page
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())

    for name in ("kith", "kith-work"):
        unit = (DEPLOY / f"systemd/{name}.service").read_text()
        assert f"ReadWritePaths=-{place}\n" in unit
    for name in ("web", "work"):
        service = compose["services"][name]
        assert service["environment"]["KITH_BACKUP"] == place
        volumes = [one.rpartition(":")[::2] for one in service["volumes"]]
        assert [volume for volume, path in volumes if path == place] == ["${KITH_BACKUPS:-backups}"]
    assert "backups" in compose["volumes"]
    # a new volume belongs to whom the folder in the image belongs to
    assert re.search(rf"install -d -m 0700 -o kith .*{place}\b", (ROOT / "Dockerfile").read_text())


def test_traefik_is_told_of_nothing_that_is_not_there() -> None:
    http = yaml.safe_load((DEPLOY / "proxies/traefik.yaml").read_text())["http"]

    for router in http["routers"].values():
        assert router["service"] in http["services"]
        assert set(router["middlewares"]) <= set(http["middlewares"])


def test_caddy_accepts_its_file_as_it_is(tmp_path: Path) -> None:
    program, file = find_program("caddy", "caddy"), DEPLOY / "proxies/Caddyfile"

    _run(program, "validate", "--adapter", "caddyfile", "--config", file, HOME=str(tmp_path))


def test_nginx_accepts_its_file_with_tls(tmp_path: Path) -> None:
    self_signed(tmp_path, "social")
    text = re.sub(
        "/etc/letsencrypt/live/social.example.org/[a-z]+.pem", f"{tmp_path}/social-server.pem", _nginx(tmp_path)
    )
    file = tmp_path / "nginx.conf"
    file.write_text(f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {text} }}")

    _run(find_program("nginx", "nginx-light"), "-t", "-c", file, "-p", tmp_path)


def _nginx(folder: Path, *, port: int = 8443) -> str:
    """The file, with a folder and ports that a test may use."""
    text = (DEPLOY / "proxies/nginx.conf").read_text().replace("/var/cache/nginx/kith", f"{folder}/cache")
    text = re.sub(r"listen \[::\]:.*", "", text)
    return text.replace("listen 443", f"listen 127.0.0.1:{port}").replace("listen 80", "listen 127.0.0.1:8080")


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
async def test_events_and_sockets_come_through_the_proxy_at_once(
    kind: str, shared_towns: SharedTowns, tmp_path: Path
) -> None:
    town = await shared_towns.get("sqlite")
    ada = await join(town)
    with ReservedPort() as port, ReservedPort() as plain:
        address, upstream = f"http://127.0.0.1:{port.number}", f"127.0.0.1:{town.port}"
        if kind == "nginx":
            text = re.sub(r"( ssl http2|ssl_.*;)", "", _nginx(tmp_path, port=port.number))
            text = text.replace("127.0.0.1:8080", f"127.0.0.1:{plain.number}").replace("127.0.0.1:8000", upstream)
            running = nginx(tmp_path, text, port.number)
        else:
            text = (DEPLOY / "proxies/Caddyfile").read_text()
            text = text.replace("{$KITH_HOST:social.example.org}", address)
            running = caddy(tmp_path, text.replace("{$KITH_UPSTREAM:127.0.0.1:8000}", upstream), port.number)
        async with (
            running,
            listen(ada, "user", base_url=address) as events,
            open_socket(ada, base_url=address) as socket,
        ):
            await socket.subscribes("user")
            posted = await ada.post("/api/v1/statuses", json={"status": "through the proxy"})
            await events.until("update", posted["id"])
            await socket.until("update", posted["id"])
