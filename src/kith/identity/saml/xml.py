"""Reading and writing XML. All XML from outside is read here, and nowhere else.

No document type, no entities, no network, no processing instructions; size, depth and the number of elements are
limited. Comments are removed, as they would cut a text in two (`admin@x<!-- -->.evil` would read as `admin@x`).
Loaded when first used, because lxml takes some megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from lxml import etree

from kith.identity.saml.errors import HostileMessage, SAMLError
from kith.identity.saml.limits import MOST_ATTRIBUTES, MOST_BYTES, MOST_DEPTH, MOST_ELEMENTS, MOST_NAMESPACES
from kith.identity.saml.names import PREFIXES

Element: TypeAlias = Any  # lxml has no types of its own

_DOCTYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)", re.IGNORECASE)
_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]*)["']""")
# What XML 1.0 cannot carry, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ID_ATTRIBUTES = ("ID", "Id", "id", "{http://www.w3.org/XML/1998/namespace}id")


def parser() -> etree.XMLParser:
    """A new one each time: a parser keeps the names that it has seen."""
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=False,
        strip_cdata=True,
        recover=False,
    )


def parse(data: bytes, *, most_bytes: int = MOST_BYTES) -> Element:
    """The root element of a document from outside; `SAMLError` for whatever is not a plain, small document."""
    _check_bytes(data, most_bytes)
    try:
        root = etree.fromstring(data, parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        raise SAMLError("The message is not well-formed XML.") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise HostileMessage("The message has a document type declaration.")
    _check_tree(root)
    return root


def _check_bytes(data: bytes, most_bytes: int) -> None:
    if len(data) > most_bytes:
        raise SAMLError("The message is too large.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise SAMLError("The message must be written in UTF-8.")
    encoding = _ENCODING.match(data[:200])
    if encoding is not None and encoding[1].lower() not in (b"utf-8", b"us-ascii"):
        raise SAMLError("The message must be written in UTF-8.")
    if _DOCTYPE.search(data) is not None:
        raise HostileMessage("The message has a document type declaration.")


def _check_tree(root: Element) -> None:
    """Limits, and ids that are used once: what refers to an element must not have a choice."""
    if root.getprevious() is not None or root.getnext() is not None:
        raise HostileMessage("The message has a processing instruction or an entity.")
    seen: set[str] = set()
    namespaces: set[tuple[str | None, str]] = set()
    depth, count = 0, 0
    for event, element in etree.iterwalk(root, events=("start", "end", "pi")):
        if event == "pi" or not isinstance(element.tag, str):
            raise HostileMessage("The message has a processing instruction or an entity.")
        if event == "end":
            depth -= 1
            continue
        depth, count = depth + 1, count + 1
        namespaces.update(element.nsmap.items())
        is_large = depth > MOST_DEPTH or count > MOST_ELEMENTS or len(element.attrib) > MOST_ATTRIBUTES
        if is_large or len(namespaces) > MOST_NAMESPACES:
            raise HostileMessage("The message has too many parts.")
        for name in ID_ATTRIBUTES:
            value = element.get(name)
            if value is not None and value in seen:
                raise HostileMessage("The message uses an ID twice.")
            seen |= {value} if value is not None else set()


def to_bytes(element: Element) -> bytes:
    return bytes(etree.tostring(element, encoding="UTF-8", xml_declaration=False, with_tail=False))


def to_document(element: Element) -> str:
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + to_bytes(element).decode()


def copy_of(element: Element) -> Element:
    """The element as a document of its own, with the namespaces that it inherited."""
    return etree.fromstring(to_bytes(element), parser())


# Writing


def tag(name: str) -> str:
    """`samlp:Response` as lxml names it."""
    prefix, _, local = name.partition(":")
    return f"{{{PREFIXES[prefix]}}}{local}"


def new(name: str, attributes: dict[str, str | None] | None = None) -> Element:
    prefix = name.partition(":")[0]
    element = etree.Element(tag(name), nsmap={prefix: PREFIXES[prefix]})
    _set(element, attributes)
    return element


def add(
    parent: Element, name: str, attributes: dict[str, str | None] | None = None, text: str | None = None
) -> Element:
    prefix = name.partition(":")[0]
    element = etree.SubElement(parent, tag(name), nsmap={prefix: PREFIXES[prefix]})
    _set(element, attributes)
    if text is not None:
        element.text = writable(text)
    return element


def _set(element: Element, attributes: dict[str, str | None] | None) -> None:
    for name, value in (attributes or {}).items():
        if value is not None:
            element.set(tag(name) if ":" in name else name, writable(value))


def writable(text: str) -> str:
    """The text without characters that XML cannot carry; the rest is escaped when it is written."""
    return _NOT_XML.sub("\ufffd", text)


# Reading


def children(parent: Element, name: str) -> list[Element]:
    return list(parent.findall(tag(name)))


def only(parent: Element, name: str) -> Element:
    found = children(parent, name)
    if len(found) != 1:
        raise SAMLError(f"The message must have exactly one {name.partition(':')[2]}.")
    return found[0]


def at_most_one(parent: Element, name: str) -> Element | None:
    return only(parent, name) if children(parent, name) else None


def text_of(element: Element | None) -> str:
    """The text of an element that has no elements inside."""
    if element is None:
        return ""
    if len(element):
        raise SAMLError("The message has elements where a text belongs.")
    return str(element.text or "").strip()


def texts_of(elements: list[Element]) -> Iterator[str]:
    return (text_of(element) for element in elements)
