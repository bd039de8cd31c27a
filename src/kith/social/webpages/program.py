"""The process in which one page is read: it is told what to do, is given the page, answers, and ends."""

from __future__ import annotations

import json
import sys

import msgspec

from kith.base.confine import confine
from kith.social.webpages.owners import own_links
from kith.social.webpages.page import read_page


def main() -> None:
    job = json.loads(sys.argv[1])
    confine(memory=job["memory"], seconds=job["seconds"], file_bytes=0)
    body = sys.stdin.buffer.read()
    if job["craft"] == "page":
        told: object = read_page(body, job["charset"], job["url"])
    else:
        told = own_links(body.decode("utf-8", "replace"))
    sys.stdout.buffer.write(msgspec.json.encode(told))


if __name__ == "__main__":
    main()
