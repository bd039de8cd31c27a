"""Where the owner of a page is to be found, too, by what the page says."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from kith.social.webpages.page import shallow

__all__ = ["own_links"]

MOST_LINKS = 1000
LONGEST_URL = 2048


def own_links(page: str) -> list[str]:
    """The addresses of its links with `rel="me"`: what is written in a comment, a script or a field is no link."""
    links = LexborHTMLParser(shallow(page)).css("a[rel][href], link[rel][href]")
    found = [one.attributes["href"] or "" for one in links if "me" in (one.attributes["rel"] or "").lower().split()]
    return [one for one in found if 0 < len(one) <= LONGEST_URL][:MOST_LINKS]
