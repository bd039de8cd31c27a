"""What pages need of brands."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.brands.fields import read_picture
from kith.identity.brands.resources import brands
from kith.identity.brands.service import Brand, current, known
from kith.identity.rest.fields import read_uuid

__all__ = ["Brand", "current", "find_file", "known"]

_CSS = "text/css; charset=utf-8"
_COLUMNS = {"style.css": "branding_custom_css", "logo": "branding_logo", "favicon": "branding_favicon"}
_files = {
    name: query(select(brands.c[column]).where(brands.c.brand_uuid == bindparam("brand", type_=UID())), str)
    for name, column in _COLUMNS.items()
}


async def find_file(work: Work, brand: str, name: str) -> tuple[str, bytes]:
    """The content type and the bytes of what a brand brings along."""
    brand_uuid = read_uuid(brand)
    statement = _files.get(name)
    if brand_uuid is None or statement is None:
        raise NotFound
    stored = await work.db.one(statement, brand=brand_uuid)
    if not stored:
        raise NotFound
    if name == "style.css":
        return _CSS, stored.encode()
    picture = read_picture(stored)
    if picture is None:
        raise NotFound
    return picture
