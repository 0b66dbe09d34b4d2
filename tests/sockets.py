"""The sockets on which this process and all below it listen."""

from ipaddress import IPv6Address, ip_address

import psutil

Socket = tuple[str, str, int]
"""The name of a process, the address and the port."""


def listening() -> set[Socket]:
    """The sockets that are open now."""
    this = psutil.Process()
    found = set()
    for process in [this, *this.children(recursive=True)]:
        try:
            connections, name = process.net_connections("inet"), process.name()
        except psutil.Error:  # it has ended meanwhile
            continue
        for each in connections:
            if each.status == psutil.CONN_LISTEN:
                found.add((name, each.laddr.ip, each.laddr.port))
    return found


def exposed(sockets: set[Socket]) -> set[Socket]:
    """Those that other machines can reach."""
    return {socket for socket in sockets if not _is_loopback(socket[1])}


def _is_loopback(text: str) -> bool:
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
