"""Whose address is whose: what is counted per address is counted per network that one customer has."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


@lru_cache(4096)
def network_of(address: str) -> str:
    """The address, or for IPv6 the network of 64 bits that one customer has, and can choose addresses of.

    >>> network_of("192.0.2.7"), network_of("2001:db8::1"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:60]
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:  # as a socket of both families names a client with an IPv4 address
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network(f"{parsed}/64", strict=False))
    return str(parsed)
