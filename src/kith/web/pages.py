"""Pages are made on the server, need no script, and fetch nothing from anywhere else."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import MediaType, Response
from litestar.datastructures import Cookie

from kith.base import csrf
from kith.base.edge import Exchange

_FOLDER = Path(__file__).parent
_environment = Environment(
    loader=FileSystemLoader(_FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
STYLE = (_FOLDER / "static" / "kith.css").read_bytes()


def render(template: str, **values: object) -> str:
    return _environment.get_template(template).render(values)


def form_page(
    exchange: Exchange, template: str, key: bytes, *, secure: bool, status: int = 200, **values: object
) -> Response[str]:
    """A page with a form: it carries the visitor's token, and so does their cookie."""
    token = csrf.token_for(exchange, key)
    return Response(
        render(template, csrf=token, **values),
        status_code=status,
        media_type=MediaType.HTML,
        cookies=[Cookie(key=csrf.COOKIE, value=token, samesite="lax", secure=secure)],
        headers={"Cache-Control": "no-store"},
    )
