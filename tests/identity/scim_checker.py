"""What the published checker of SCIM servers finds at an address, as JSON: `python -m tests.identity.scim_checker URL TOKEN`."""

from __future__ import annotations

import json
import sys

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

if __name__ == "__main__":
    address, token = sys.argv[1:]
    with httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        found = check_server(SyncSCIMClient(http))
    print(json.dumps([(one.status.name, str(one.title), str(one.reason)) for one in found]))
