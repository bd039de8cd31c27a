"""A visitor who follows every link of every page, and tells what a page should not show.

Each kind of page is opened a few times: a route, and where one stands for many the kind of record that it shows.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx
import msgspec

from kith.app import ROUTES
from kith.base.routing.route import AnswerShape
from kith.base.routing.router import Router, WrongMethod
from tests.web.browsing import Browser

__all__ = ["Crawler", "Seen", "faults_of", "page_of"]

# Words that are for programs. What people are told to type or to hand to a program stands in <code>, <pre> or a field.
UNFIT = {
    "an id": re.compile(
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{32,}\b|(?<![\d.,:+])\b\d{14,}\b"
    ),
    "a name of our own": re.compile(
        r"(?<![\w@./:#?=&-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?![./@:])"
        r"|\b(?:stages|policies|providers|sources|core|flows|identity|propertymappings|social|kith)\.[a-z_]+\b(?!\.)"
    ),
    "a value as programs write it": re.compile(
        r"(?:^|: )None$|\bundefined\b|\bnull\b|\bNaN\b|\bTrue\b|\bFalse\b|\[object |<[\w.]+ object at|\b[A-Z]\w+\([a-z_]+=|[\[{]'\w|datetime\."
    ),
    "a gap": re.compile(r"\{[a-z_]+\}|%\([a-z]+\)s|\{\{|\{%"),
}
# What standards and operators call things, where people choose among these.
NAMES = ("offline_access", "id_token", "request_uri", "private_key_jwt", "signup_reason", "password_repeat")
_SILENT = {"del", "ins", "script", "style", "template", "code", "pre", "kbd", "samp", "textarea", "svg"}
_SAID = ("aria-label", "placeholder", "alt")  # a field's `title` is its name in the API, for those who look for it
_MADE = re.compile(r"\bperson\d+_[0-9a-f]{6}\b|\bprivate_ada\b")  # people of the tests' towns and of the demo
_TOKEN = re.compile(r'(?:name="csrf" value|data-csrf)="([^"]+)"')
_ENDS = re.compile(
    r"delet|unbind|invalidation|lockdown|impersonat|sign-out|/end|revoke|leav|reject|suspend|remov|forget|/web/api"
)
_ID = re.compile(r"^(?:[0-9a-f-]{32,36}|-?\d+|@.*|.*[0-9].*)$")


class Form(msgspec.Struct):
    action: str
    method: str
    values: list[tuple[str, str]]
    name: str = ""  # of what sends it


class Seen(HTMLParser):
    """What there is in a page to read, to follow and to send."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.links: list[str] = []
        self.files: list[str] = []
        self.forms: list[Form] = []
        self._silent: list[str] = []
        self._select = self._area = ""
        self._in_form = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _SILENT:
            self._silent.append(tag)
        self.texts += [given[name] for name in _SAID if given.get(name)]
        if tag in ("a", "area") and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "video", "audio", "source", "iframe") and given.get("src"):
            self.files.append(given["src"])
        if tag == "link" and given.get("href"):
            self.files.append(given["href"])
        if tag == "option" and self._select:
            self._choose(given)
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get").lower(), []))
            self._in_form = True
        if self._in_form:
            self._field(tag, given)

    def _field(self, tag: str, given: dict[str, str]) -> None:
        form, name = self.forms[-1], given.get("name", "")
        kind = given.get("type", "text" if tag == "input" else "submit")
        if tag == "input" and kind in ("submit", "button"):
            self.texts.append(given.get("value", ""))
        if tag == "button" and kind == "submit" and not form.name:
            form.name = given.get("formaction", "") or " ".join((name, given.get("value", ""))).strip() or " "
            if name:
                form.values.append((name, given.get("value", "")))
        if "disabled" in given or not name:
            return
        if tag == "input" and kind not in ("submit", "button", "file", "image"):
            if kind not in ("checkbox", "radio") or "checked" in given:
                form.values.append((name, given.get("value", "on" if kind in ("checkbox", "radio") else "")))
        elif tag == "select":
            self._select = name
        elif tag == "textarea":
            self._area = name
            form.values.append((name, ""))

    def _choose(self, given: dict[str, str]) -> None:
        """The first, where none is chosen."""
        values, chosen = self.forms[-1].values, (self._select, given.get("value", ""))
        if not values or values[-1][0] != self._select:
            values.append(chosen)
        elif "selected" in given:
            values[-1] = chosen

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1].values[-1] = (self._area, self.forms[-1].values[-1][1] + data)
        if not self._silent and data.strip():
            self.texts.append(data.strip())

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            del self._silent[len(self._silent) - 1 - self._silent[::-1].index(tag) :]
        if tag == "form":
            self._in_form = False
        if tag == "textarea":
            self._area = ""
        if tag == "select":
            self._select = ""


def page_of(html: str) -> Seen:
    seen = Seen()
    seen.feed(html)
    return seen


def faults_of(texts: Iterable[str], allowed: Sequence[str] = ()) -> list[str]:
    """What people should not have to read."""
    found = []
    for text in texts:
        for what, pattern in UNFIT.items():
            said = _MADE.sub("", text)
            found += [
                f"{what}: {one!r} in {text[:90]!r}" for one in pattern.findall(said) if one not in (*NAMES, *allowed)
            ]
    return found


class Crawler:
    """`browser` is signed in, or not; `most` is how often a kind of page is opened."""

    def __init__(self, browser: Browser, *, most: int, allowed: Sequence[str] = ()) -> None:
        self.faults: list[str] = []
        self.sent = 0  # forms
        self.opened: Counter[str] = Counter()
        self.forms: dict[str, tuple[str, Form]] = {}
        self._browser = browser
        self._most = most
        self._allowed = allowed
        self._base = str(browser.http.base_url).rstrip("/")
        self._router = Router(ROUTES)
        self._known: set[str] = set()
        self._waiting: deque[tuple[str, str]] = deque()

    async def crawl(self, *starts: str) -> None:
        for start in starts:
            self._add(start, "the start")
        while self._waiting:
            address, at = self._waiting.popleft()
            await self._open(address, at)

    async def send_forms(self) -> None:
        """Each once, as it stands; what would end something, and what a script fills in first, is left out."""
        for kind, (address, form) in sorted(self.forms.items()):
            if ("step", "") in form.values or _ENDS.search(kind) or _ENDS.search(str(form.values)):
                continue
            page = await self._browser.http.get(address)
            token = _TOKEN.search(page.text)
            sent: dict[str, list[str]] = {}
            for name, value in form.values:
                sent.setdefault(name, []).append(value)
            if token is not None:
                sent["csrf"] = [token[1]]
            to = urljoin(f"{self._base}{address}", form.action or address)
            answer = await self._browser.http.post(to, data=sent, follow_redirects=True)
            self.sent += 1
            if answer.status_code == 404 or answer.status_code >= 500:
                self.faults.append(f"{address}: its form {form.values} to {form.action} answers {answer.status_code}")
            if answer.headers.get("content-type", "").startswith("text/html"):
                said = faults_of(page_of(answer.text).texts, self._allowed)
                self.faults += [f"{address}, when its form was sent: {one}" for one in said]

    def _add(self, address: str, at: str) -> None:
        """Addresses of other hosts and of other protocols are nobody's business."""
        whole = urljoin(f"{self._base}{at if at.startswith('/') else '/'}", address)
        if not whole.startswith(f"{self._base}/"):
            return
        parts = urlsplit(whole)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        if path in self._known:
            return
        kind = self._kind(parts.path, parts.query)
        if kind is None:
            self._known.add(path)
            self.faults.append(f"{at}: no route to {path}")
        elif kind and self.opened[kind] < self._most:
            self._known.add(path)
            self.opened[kind] += 1
            self._waiting.append((path, at))

    def _kind(self, path: str, query: str = "", method: str = "GET") -> str | None:
        """ "" where one would have to listen for ever, or that speaks to programs."""
        try:
            found = self._router.find(method, path)
        except WrongMethod:
            return None
        if found is None:
            return None
        route, values = found
        if route.shape is not AnswerShape.ANSWER or path.startswith(("/api/v1/streaming",)):
            return ""
        kinds = [
            "/".join("*" if _ID.match(part) else part for part in value.split("/"))
            for value in values
            if route.template.endswith(":path}")
        ]
        names = sorted({name for name, value in parse_qsl(query)})
        if names and kinds:
            kinds = []  # lists of records are sorted and searched by the same lines
        return " ".join([route.template, *kinds, *names])

    async def _open(self, address: str, at: str) -> None:
        answer = await self._browser.http.get(address, headers={"Accept": "text/html,*/*;q=0.8"})
        if answer.is_redirect:
            self._add(answer.headers["location"], at)
            return
        if answer.status_code != 200:
            self.faults.append(f"{at}: {address} answers {answer.status_code}")
        if answer.headers.get("content-type", "").startswith("text/html"):
            self._read(answer, address)

    def _read(self, answer: httpx.Response, address: str) -> None:
        page = page_of(answer.text)
        self.faults += [f"{address}: {one}" for one in faults_of(page.texts, self._allowed)]
        for link in (*page.links, *page.files):
            self._add(link, address)
        for form in page.forms:
            to = urljoin(f"{self._base}{address}", form.action or address)
            parts = urlsplit(to)
            if form.method == "get":
                self._add(f"{parts.path}?{urlencode(form.values)}", address)
            elif to.startswith(f"{self._base}/"):
                kind = self._kind(parts.path, method="POST")
                if kind is None:
                    self.faults.append(f"{address}: no route for a form to {parts.path}")
                else:
                    self.forms.setdefault(f"{kind} {form.name} {[name for name, _ in form.values]}", (address, form))
