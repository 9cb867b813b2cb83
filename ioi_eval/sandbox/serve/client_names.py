"""Keeps web pages of other sites from sending requests to a server that has no login. Pure.

A page that is open in a browser on this machine can send requests to ports of this machine. A request with another
site's `Origin` is refused. With DNS rebinding (the page's own name suddenly resolves to 127.0.0.1) there need be no
`Origin`, but the browser sends that name as `Host`. So `Host` must be a name that no other site can choose: an IP
address, `localhost`, this machine's name, or one that was allowed when the server was started.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import NoReturn

from ioi_eval.sandbox.serve.request import Refusal

ANY = "*"
"""Allows every name."""


def refuse_foreign_pages(host: str | None, origin: str | None, allowed: Collection[str]) -> None:
    """Refuse a request that a page of another site may have sent.

    Args:
        host: the header `Host`; `None` if it is missing, which no browser does.
        origin: the header `Origin`, which browsers send; `None` if it is missing.
        allowed: further names that clients may use for the server, besides addresses and `localhost`, in lower case.

    Raises:
        Refusal: 403, with what to do.
    """
    if ANY in allowed:
        return
    if host is not None and not _is_ours(_name(host), allowed):
        reason = f"the name {_name(host)[:255]!a} in Host is not known to be this server's"
        _refuse(f"{reason}; ask by its IP address, or start it with --allow-host NAME")
    if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
        reason = f"a page of {origin[:255]!a} (Origin) may not ask"
        _refuse(f"{reason}; if that is meant, start the server with --allow-host '*'")


def _refuse(message: str) -> NoReturn:
    raise Refusal(403, {"message": message})


def _name(host: str) -> str:
    """The name without the port, and without the brackets of an IPv6 address."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")


def _is_ours(name: str, allowed: Collection[str]) -> bool:
    if name == "localhost" or name in allowed:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
