"""A ROS domain of one's own: two runs on one machine must not hear each other.

A lease is a TCP port that stays bound on the loopback interface, one port per domain: the kernel hands it
to one process only, across users, and takes it back however that process ends. Needs neither ROS nor any
other package.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable, Mapping
from types import TracebackType

from typing_extensions import Self

DOMAINS = range(1, 102)
"""The domains whose ports lie below Linux's ephemeral ports; 0 is left to those who never chose one."""

_LEASE_PORT = 22118  # plus the domain: away from DDS's own ports (7400 and up)
_DDS_PORT, _DDS_PORTS_PER_DOMAIN = 7400, 250
_DDS_PARTICIPANTS = 32  # as many as rmw_fastrtps looks for on one machine


class NoDomainLeft(RuntimeError):
    """Every domain is taken."""


class DomainLease:
    """One domain, taken until ``close``; also a context manager."""

    def __init__(self, domains: Iterable[int] = DOMAINS) -> None:
        """Take the first free one of ``domains``.

        Raises:
            NoDomainLeft: all are leased, or in use by somebody who knows nothing of leases.
        """
        for domain in domains:
            held = _bind(socket.SOCK_STREAM, _LEASE_PORT + domain)
            if held is None:
                continue
            if _is_used(domain):
                held.close()
                continue
            self.domain = domain
            self._held = held
            return
        raise NoDomainLeft("no free ROS domain: set ROS_DOMAIN_ID yourself, or end other runs")

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """``base`` (default: this process's own), for processes that live in this domain only."""
        environment = dict(os.environ if base is None else base)
        # The old variable would overrule the new one, and static peers would reach out of this machine.
        for name in ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"):
            environment.pop(name, None)
        environment["ROS_DOMAIN_ID"] = str(self.domain)
        environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        return environment

    def close(self) -> None:
        """Give the domain back. The processes in it must have ended."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _bind(kind: int, port: int, host: str = "127.0.0.1") -> socket.socket | None:
    """A socket that has the port for itself; None where another has it."""
    candidate = socket.socket(socket.AF_INET, kind)
    try:
        candidate.bind((host, port))
    except OSError as error:
        candidate.close()
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return None
        raise
    return candidate


def _is_used(domain: int) -> bool:
    """Whether DDS participants are in this domain: they hold the discovery ports that RTPS assigns to it.

    The multicast port, where discovery uses it, and one port per participant. We are not let in beside them.
    """
    first = _DDS_PORT + _DDS_PORTS_PER_DOMAIN * domain
    for port in (first, *range(first + 10, first + 10 + 2 * _DDS_PARTICIPANTS, 2)):
        probe = _bind(socket.SOCK_DGRAM, port, host="")
        if probe is None:
            return True
        probe.close()
    return False
