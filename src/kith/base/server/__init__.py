"""The web server: HTTP/1.1 and WebSocket connections, their limits, and the ASGI application behind them.

Every connection costs a few kilobytes and is waited for without a task of its own, so those that send nothing, or
send slowly, take nothing from the others (docs/decisions/0010).
"""

from kith.base.server.limits import ConnectionLimits, limits_from
from kith.base.server.listening import HttpServer, listen

__all__ = ["ConnectionLimits", "HttpServer", "limits_from", "listen"]
