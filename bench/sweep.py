#!/usr/bin/python3
"""The inventories of simulated BMCs by sushy, for `make bench`:

    sweep.py COUNT FIRST_ADDRESS PORT CA_FILE LOGIN_FILE

Prints what two rounds took of this process's processor time, in microseconds, and how many entries the
second one found. The first opens sessions and connections, the second uses them. The interpreter
and its modules are warm before either.
"""

import ipaddress
import os
import sys
import time

import sushy

# What a user's environment says of proxies and authorities is not meant for these.
for variable in [v for v in os.environ if v.lower().endswith(("_proxy", "_ca_bundle", "ssl_cert_file"))]:
    del os.environ[variable]


def read(service):
    """The entries of one BMC, each fetched anew."""
    inventory = service.get_update_service().firmware_inventory
    return [(item.identity, item.version) for item in inventory.get_members()]


def main():
    count, first, port, ca, login = sys.argv[1:]
    with open(login, encoding="utf-8") as f:
        user, password = f.readline().strip().split(":", 1)
    services, entries = [], 0
    base = ipaddress.IPv4Address(first)

    start = time.process_time()
    for i in range(int(count)):
        service = sushy.Sushy(f"https://{base + i}:{port}", user, password, verify=ca)
        read(service)
        services.append(service)
    fresh = time.process_time() - start

    start = time.process_time()
    for service in services:
        entries += len(read(service))
    kept = time.process_time() - start
    print(round(fresh * 1e6), round(kept * 1e6), entries)


main()
