"""Domain leases: exclusive, given back by the kernel, and wary of strangers."""

import os
import random
import socket
import sys

import pytest

from adf_ea_ros.nodes.isolation import DomainLease, NoDomainLeft
from adf_ea_ros.testing.process import NodeProcess

FAR = range(50, 102)
"""Domains that no other test gets to: leases are taken from the low end."""

HOLD = """
import sys, time
from adf_ea_ros.nodes.isolation import DomainLease
lease = DomainLease([int(sys.argv[1])])
print("held", flush=True)
time.sleep(600)
"""


def test_two_leases_differ_and_a_closed_one_is_free_again():
    with DomainLease() as first:
        with DomainLease() as second:
            assert first.domain != second.domain
        with pytest.raises(NoDomainLeft):
            DomainLease([first.domain])


def far_domain():
    """A free domain that stays free, as nobody else looks for one there."""
    with DomainLease(random.sample(FAR, len(FAR))) as lease:
        return lease.domain


def test_a_closed_lease_is_free_again():
    domain = far_domain()
    with DomainLease([domain]) as again:
        assert again.domain == domain


def test_a_killed_process_gives_its_domain_back():
    domain = far_domain()
    with NodeProcess([sys.executable, "-c", HOLD, str(domain)], os.environ) as holder:
        holder.wait_for_line("held")
        with pytest.raises(NoDomainLeft):
            DomainLease([domain])
        holder.kill()
        with DomainLease([domain]) as mine:
            assert mine.domain == domain


def test_a_domain_in_use_without_a_lease_is_avoided():
    domain = far_domain()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("", 7400 + 250 * domain + 12))  # discovery port of a second participant
        with pytest.raises(NoDomainLeft):
            DomainLease([domain])


def test_the_environment_keeps_to_this_machine_and_domain():
    base = {"PATH": "/bin", "ROS_DOMAIN_ID": "0", "ROS_LOCALHOST_ONLY": "0", "ROS_STATIC_PEERS": "10.0.0.1"}
    with DomainLease() as lease:
        assert lease.environment(base) == {
            "PATH": "/bin",
            "ROS_DOMAIN_ID": str(lease.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }
    assert base["ROS_DOMAIN_ID"] == "0"
