"""Who may ask a server that nobody has to log in to: not the pages of other people's sites. Pure.

A page that somebody reads in a browser on this machine can send requests to ports of this machine. Where it says so
itself (`Origin`), it is refused. By DNS rebinding, a name of its own that suddenly stands for 127.0.0.1, it need not;
but the browser then sends that name as `Host`. So a name is believed only if it cannot have been chosen by others: an
IP address, `localhost`, this machine's own, or one that whoever started the server has allowed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import NoReturn

from ioi_eval.sandbox.request import Refusal

ANY = "*"
"""Allows every name."""


def refuse_strangers(host: str | None, origin: str | None, allowed: Collection[str]) -> None:
    """Refuse a request that a page of somebody else's may have sent.

    Args:
        host: the header `Host`; `None` for none, as only programs leave it out.
        origin: the header `Origin`, which browsers send; `None` for none.
        allowed: names under which the server may be asked besides addresses and `localhost`, in lower case.

    Raises:
        Refusal: 403, with what to do.
    """
    if ANY in allowed:
        return
    if host is not None and not _is_ours(_name(host), allowed):
        words = f"the name {_name(host)[:255]!a} in Host is not known to be this server's"
        _refuse(f"{words}; ask by its IP address, or start it with --allow-host NAME")
    if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
        words = f"a page of {origin[:255]!a} (Origin) may not ask"
        _refuse(f"{words}; if that is meant, start the server with --allow-host '*'")


def _refuse(message: str) -> NoReturn:
    raise Refusal(403, {"message": message})


def _name(host: str) -> str:
    """Without the port; of an IPv6 address without its brackets."""
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
