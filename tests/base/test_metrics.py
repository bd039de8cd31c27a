"""The sockets that `kith top` reads."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, Gauge

from kith.base import metrics
from kith.base.metrics import MetricsServers


def test_who_does_not_read_keeps_no_process_from_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "PATIENCE_SECONDS", 0.2)
    many = Gauge("test_many", "More than fits into a pipe", ["number"])
    try:
        for number in range(20_000):
            many.labels(str(number)).set(1)
        servers = MetricsServers(tmp_path, "serve", None)
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(tmp_path / "metrics" / "serve.sock"))
            asking.recv(1)
            ending = threading.Thread(target=servers.stop, daemon=True)
            ending.start()
            ending.join(30)
            assert not ending.is_alive()
    finally:
        REGISTRY.unregister(many)


def test_the_socket_of_a_busy_process_is_not_swept_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "PATIENCE_SECONDS", 0.2)
    (tmp_path / "metrics").mkdir()
    busy, gone = tmp_path / "metrics" / "work.sock", tmp_path / "metrics" / "gone.sock"
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as dead:
        listening.bind(str(busy))
        listening.listen()
        dead.bind(str(gone))
        MetricsServers(tmp_path, "serve", None).stop()
        assert (busy.exists(), gone.exists()) == (True, False)
