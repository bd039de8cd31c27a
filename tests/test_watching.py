"""What operators watch: every number that a dashboard, an alert or a page names is one that a server tells."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from kith.base.metrics import read_socket
from tests.conftest import TownBuilder
from tests.social.members import join
from tests.town import Town
from tests.town.debian import find_program

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
_NAME = re.compile(r"\bkith_[a-z_]+")
_NO_METRIC = {"kith_csrf"}


def test_prometheus_understands_the_rules() -> None:
    for words in ("check rules alerts.yaml", "test rules alerts_test.yaml", "check config prometheus.yaml"):
        done = subprocess.run(
            [find_program("promtool", "prometheus"), *words.split()],
            cwd=DEPLOY / "prometheus",
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@asynccontextmanager
async def collector() -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Takes traces as a collector of OpenTelemetry does; its address, and the spans that have come."""
    spans: list[dict[str, Any]] = []

    async def take(request: web.Request) -> web.Response:
        for resource in (await request.json())["resourceSpans"]:
            spans.extend(span for scope in resource["scopeSpans"] for span in scope["spans"])
        return web.json_response({})

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", spans
    finally:
        await runner.cleanup()


async def test_numbers_logs_and_traces_of_one_post(new_town: TownBuilder) -> None:
    async with collector() as (address, spans):
        town = await new_town(otlp=address, smtp="smtp://127.0.0.1:1")
        ada = await join(town)
        headers = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
        posted = await ada.call("POST", "/api/v1/statuses", json={"status": "watched"}, headers=headers)
        request_id = posted.headers["x-request-id"]

        # traces: the request below what the caller said, and a job below the request
        async with asyncio.timeout(60):
            while not any(span["name"] == "job statuses.posted" for span in spans):
                await asyncio.sleep(0.1)
        [request] = [span for span in spans if span["name"] == "POST /api/v1/statuses"]
        [job] = [span for span in spans if span["name"] == "job statuses.posted"]
        assert (request["traceId"], request["parentSpanId"]) == ("a" * 32, "b" * 16)
        assert (job["traceId"], job["parentSpanId"]) == (request["traceId"], request["spanId"])
        for span in (request, job):
            facts = {one["key"]: one["value"] for one in span["attributes"]}
            assert facts["kith.request_id"] == {"stringValue": request_id}
            assert int(facts["kith.db.statements"]["intValue"]) > 0

        # numbers: the socket that `kith top` reads has every one that anybody is told to look at
        told = read_socket(town.folder / "metrics" / "serve.sock")
        assert told is not None
        exposed = set(re.findall(r"^# TYPE (\S+)", told, re.MULTILINE))
        exposed |= {f"{name}{end}" for name in exposed for end in ("_count", "_sum", "_bucket")}
        files = [DEPLOY / "grafana/kith.json", DEPLOY / "prometheus/alerts.yaml", ROOT / "docs/watching.md"]
        for file in files:
            assert set(_NAME.findall(file.read_text())) - _NO_METRIC <= exposed, file

        shown = json.loads(await town.kith("top", "--once", "--json"))
        assert shown["processes"] == 1
        assert shown["memory"] > 10_000_000
        assert "requests/s" in await town.kith("top", "--once")
        await _a_failed_job_names_its_request(town)


async def _a_failed_job_names_its_request(town: Town) -> None:
    answer = await town.http.post(
        "/api/v1/apps", json={"client_name": "x", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write"}
    )
    app = answer.json()
    token = await town.http.post(
        "/oauth/token",
        json={
            "grant_type": "client_credentials",
            "client_id": app["client_id"],
            "client_secret": app["client_secret"],
            "scope": "read write",
        },
    )
    made = await town.http.post(
        "/api/v1/accounts",
        headers={"Authorization": f"Bearer {token.json()['access_token']}"},
        json={
            "username": "grace",
            "email": "grace@example.org",
            "password": "correct horse battery",
            "agreement": True,
            "locale": "en",
        },
    )
    assert made.status_code == 200, made.text
    request_id = made.headers["x-request-id"]

    def failures() -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in town.log().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == "jobs.failed"]

    async with asyncio.timeout(60):
        while not failures():
            await asyncio.sleep(0.1)
    assert failures()[0]["request"] == request_id
