"""/keyboard-shortcuts: what the keys do on these pages (static/client/keys.js)."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web.client.frame import client_page, find_member
from kith.web.translation import translatable

__all__ = ["SHORTCUTS", "routes"]

# What is pressed, one after the other, and what it does; by parts of the page.
SHORTCUTS: tuple[tuple[str, tuple[tuple[tuple[str, ...], str], ...]], ...] = (
    (
        translatable("Reading"),
        (
            (("j",), translatable("Next post")),
            (("k",), translatable("Previous post")),
            (("ArrowDown",), translatable("Next post")),
            (("ArrowUp",), translatable("Previous post")),
            (("1",), translatable("First post")),
            ((".",), translatable("Show new posts")),
            (("o",), translatable("Open the post")),
            (("Enter",), translatable("Open the post")),
            (("p",), translatable("Open the author's profile")),
            (("x",), translatable("Show or hide text behind a warning")),
            (("h",), translatable("Show or hide sensitive pictures")),
            (("e",), translatable("Enlarge the pictures")),
            (("Backspace",), translatable("Go back")),
        ),
    ),
    (
        translatable("Doing something with a post"),
        (
            (("r",), translatable("Reply")),
            (("f",), translatable("Favourite")),
            (("b",), translatable("Boost")),
            (("d",), translatable("Bookmark")),
            (("m",), translatable("Mention the author")),
            (("q",), translatable("Quote")),
            (("t",), translatable("Translate")),
        ),
    ),
    (
        translatable("Writing and searching"),
        (
            (("n",), translatable("Write a new post")),
            (("Alt", "n"), translatable("Write a new post on a page of its own")),
            (("Alt", "x"), translatable("Put a warning before the text")),
            (("Ctrl", "Enter"), translatable("Send what you write")),
            (("s",), translatable("Search")),
            (("/",), translatable("Search")),
            (("Escape",), translatable("Leave the field")),
        ),
    ),
    (
        translatable("Going somewhere: first g, then a letter"),
        (
            (("g", "h"), translatable("Home")),
            (("g", "n"), translatable("Notifications")),
            (("g", "l"), translatable("Local")),
            (("g", "t"), translatable("Federated")),
            (("g", "e"), translatable("Explore")),
            (("g", "d"), translatable("Conversations")),
            (("g", "s"), translatable("Menu")),
            (("g", "f"), translatable("Favourites")),
            (("g", "k"), translatable("Bookmarks")),
            (("g", "u"), translatable("Your profile")),
            (("g", "p"), translatable("Your pinned posts")),
            (("g", "b"), translatable("Blocked people")),
            (("g", "m"), translatable("Muted people")),
            (("g", "r"), translatable("Follow requests")),
            (("?",), translatable("This page")),
        ),
    ),
)


@get("/keyboard-shortcuts")
async def show_shortcuts(exchange: Exchange) -> Answer:
    return await client_page(exchange, "client/shortcuts.html", await find_member(exchange), parts=SHORTCUTS)


routes = [show_shortcuts]
