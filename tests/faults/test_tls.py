"""Servers with certificates that cannot be verified: both libraries refuse them, and the message says what to do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from pathlib import Path

import pytest

from tests.faults.test_proxies import RUNTIMES
from tests.forked_commands import COMMAND

KEY = """\
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIM6oL9TbcaUg8OkscV8zBOr4ZNHJU5VUrYpX8kctHf0noAoGCCqGSM49
AwEHoUQDQgAEZiiD4wWIt7gy2hexhC4UU/qzfYPRR1sz4Vioy67KSaO2RbL4VCGT
1Vv8ughsCP8OvHo4MFm9Z3ZbhH7Xs/Um8w==
-----END EC PRIVATE KEY-----
"""
"""Made for these tests, like the certificates: self-signed, for the address 127.0.0.1."""

UNTIL_2120 = """\
-----BEGIN CERTIFICATE-----
MIIBUjCB+aADAgECAgEBMAoGCCqGSM49BAMCMBgxFjAUBgNVBAMMDWlvaS1ldmFs
IHRlc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBgxFjAUBgNV
BAMMDWlvaS1ldmFsIHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARmKIPj
BYi3uDLaF7GELhRT+rN9g9FHWzPhWKjLrspJo7ZFsvhUIZPVW/y6CGwI/w68ejgw
Wb1ndluEftez9SbzozIwMDAPBgNVHREECDAGhwR/AAABMB0GA1UdDgQWBBTdTaOS
1mhJrTyBDAXgdVGCds8LpTAKBggqhkjOPQQDAgNIADBFAiEA5fHZVP9g6lPPnU3b
s1PNShubJpY6zWLtrqAji2bRWT4CIHpSwxjOmz/Ju5RSDE4CWcvswx+tMfqtH5gK
TyUmyqOR
-----END CERTIFICATE-----
"""
UNTIL_2020 = """\
-----BEGIN CERTIFICATE-----
MIIBUDCB96ADAgECAgECMAoGCCqGSM49BAMCMBgxFjAUBgNVBAMMDWlvaS1ldmFs
IHRlc3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAYMRYwFAYDVQQD
DA1pb2ktZXZhbCB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEZiiD4wWI
t7gy2hexhC4UU/qzfYPRR1sz4Vioy67KSaO2RbL4VCGT1Vv8ughsCP8OvHo4MFm9
Z3ZbhH7Xs/Um86MyMDAwDwYDVR0RBAgwBocEfwAAATAdBgNVHQ4EFgQU3U2jktZo
Sa08gQwF4HVRgnbPC6UwCgYIKoZIzj0EAwIDSAAwRQIhANsl9doHk4ScQIPRqFDT
oCX+kF+8K9ygGynXHZHqqsLnAiAJ2rgVUEU/DGPKF1bRFDYQ+WxYcLG5OJZjERKA
mtzfGw==
-----END CERTIFICATE-----
"""


async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request with a list of runtimes in which nothing can judge."""
    with contextlib.suppress(OSError):
        await reader.read(1 << 16)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(RUNTIMES) + RUNTIMES)
    writer.close()


def context(directory: Path, certificate: str) -> ssl.SSLContext:
    """A server's TLS with this certificate."""
    file = directory / "server.pem"
    file.write_text(KEY + certificate)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    return tls


@pytest.mark.parametrize(
    ("certificate", "is_known", "host", "words"),
    [
        (UNTIL_2120, True, "https://127.0.0.1", ""),
        (UNTIL_2120, False, "https://127.0.0.1", "set SSL_CERT_FILE to a file with the certificate of its issuer"),
        (UNTIL_2120, True, "https://localhost", "name the endpoint as its certificate does"),
        (UNTIL_2020, True, "https://127.0.0.1", "renew the certificate"),
        (None, True, "https://127.0.0.1", "the server may not use TLS; then write http://"),
    ],
    ids=["good", "unknown", "other-name", "expired", "none"],
)
def test_advice(tmp_path: Path, certificate: str | None, is_known: bool, host: str, words: str) -> None:
    """`cluster status` uses httpx, `cluster probe` aiohttp, as jobs do."""
    known = tmp_path / "known.pem"
    known.write_text((certificate or "") if is_known else "")
    environment = os.environ | {"SSL_CERT_FILE": str(known), "SSL_CERT_DIR": str(tmp_path)}

    async def shown(command: str, port: int) -> str:
        arguments = ("cluster", command, "--endpoints", f"{host}:{port}")
        process = await asyncio.create_subprocess_exec(
            *COMMAND, *arguments, env=environment, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        return " ".join(output.decode().split())

    async def run() -> list[str]:
        tls = None if certificate is None else context(tmp_path, certificate)
        async with await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls) as server:
            port = server.sockets[0].getsockname()[1]
            return [await shown(command, port) for command in ("status", "probe")]

    for output in asyncio.run(run()):
        assert words in output
        assert ("SSL" in output) == bool(words)
