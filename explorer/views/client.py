"""The client of a connection, to which limits apply: an address, or the network of an IPv6 host."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from explorer.settings import Networks

#: A host gets a network of at least this size, and may use all of its addresses.
_IPV6_PREFIX_BITS = 64


def client_of(peer: str, forwarded: str, proxies: Networks) -> str:
    """Return the client of a connection from the address `peer`.

    The client is the peer, unless the peer is a trusted proxy. Then it is the last address of the
    `X-Forwarded-For` header that is not a trusted proxy: clients can forge the addresses before it.
    """
    found = peer
    for part in reversed(forwarded.split(",")):
        name = part.strip()
        if not is_proxy(found, proxies) or _network(name) is None:
            break
        found = name
    return _network(found) or found


def is_proxy(peer: str, proxies: Networks) -> bool:
    """Return whether an address belongs to a trusted proxy."""
    try:
        address = _unmapped(peer)
    except ValueError:
        return False
    return any(address in network for network in proxies)


def _network(name: str) -> str | None:
    """Return the name of a client from its address, or None if the text is no address."""
    try:
        address = _unmapped(name)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and not address.is_loopback:
        return str(IPv6Network((int(address), _IPV6_PREFIX_BITS), strict=False))
    return str(address)


@lru_cache(maxsize=1024)
def _unmapped(name: str) -> IPv4Address | IPv6Address:
    """Return an address, converting an IPv4 address that an IPv6 socket has mapped."""
    address = ip_address(name.strip("[]").partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
