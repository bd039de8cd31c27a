"""Who is behind a host: names below a domain cost nothing, so what is counted for a host is counted for its domain."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_network

from yarl import URL

from kith.base.http.addresses import Address, is_public, parse_address, unmapped
from kith.base.http.urls import parse_url

__all__ = ["registrable_domain", "site_of", "site_of_domain"]

# Below which of the short names of countries names are given to anybody. What is not listed is somebody's own, however
# short it is: else whoever has `x.io` would be as many as they like.
_GIVEN_AWAY = "ac co com ed edu go gob gouv gov gub gv mil ne net nom or org"
_BESIDE = {
    "at": "priv",
    "au": "asn id",
    "br": "adm adv app arq art blog coop dev eco eng esp etc flog fot ind inf log med mus not odo pro psc psi rec srv "
    "tec tmp tur tv vet vlog wiki",
    "fr": "asso prm tm",
    "hk": "idv",
    "id": "biz desa my or sch web",
    "il": "idf k12 muni",
    "in": "firm gen ind res",
    "jp": "ad gr lg",
    "kr": "es hs kg ms pe re sc",
    "nz": "cri geek gen iwi kiwi maori school",
    "pl": "biz info",
    "pt": "int publ",
    "ru": "msk pp spb",
    "sg": "per",
    "th": "in mi",
    "tr": "av bbs bel biz dr gen info k12 name pol tel tv web",
    "tw": "club ebiz game idv",
    "ua": "in kiev kyiv lviv pp",
    "uk": "ltd me nhs plc police sch",
    "za": "law school web",
}
_EVERYWHERE = frozenset(_GIVEN_AWAY.split())
_REGISTRIES = {country: _EVERYWHERE.union(names.split()) for country, names in _BESIDE.items()}
_COUNTRY = 2  # letters


def registrable_domain(domain: str) -> str:
    """Registered domain of a host, as far as the name tells: `a.b.example.org` is of `example.org`.

    Below what countries give away (`co.uk`) one label more is taken. An address is itself, see `_of_address`.
    """
    host, port = _split(domain)
    address = parse_address(host.strip("[]"))
    if address is not None:
        return _of_address(address, port)
    labels = host.split(".")
    is_given_away = len(labels) > 2 and len(labels[-1]) == _COUNTRY and labels[-2] in _registry(labels[-1])
    return ".".join(labels[-3:] if is_given_away else labels[-2:])


def _registry(country: str) -> frozenset[str]:
    return _REGISTRIES.get(country, _EVERYWHERE)


def _split(domain: str) -> tuple[str, str]:
    """The host and its port, which may be missing."""
    if domain.startswith("["):
        host, _, port = domain.partition("]")
        return f"{host}]", port.removeprefix(":")
    if domain.count(":") > 1:  # an IPv6 address by itself
        return domain, ""
    host, _, port = domain.partition(":")
    return host, port


def _of_address(address: Address, port: str) -> str:
    """One caller has all ports of an address, and the /64 of an IPv6 one. In the operator's own network each port is
    somebody else."""
    address = unmapped(address)
    if is_public(address):
        return str(ip_network(f"{address}/64", strict=False) if isinstance(address, IPv6Address) else address)
    shown = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
    return f"{shown}:{port}" if port else shown


def site_of(url: URL) -> str:
    """For whom a call to `url` is counted: the registered domain, or the address."""
    host = (url.raw_host or "").rstrip(".").lower()
    address = parse_address(host)
    return registrable_domain(host) if address is None else _of_address(address, str(url.port or ""))


def site_of_domain(domain: str) -> str:
    """Registered domain of a server that is named with or without its port."""
    return site_of(parse_url(f"https://{domain}/"))
