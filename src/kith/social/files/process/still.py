"""The program for pictures that stand still."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from kith.social.files.process import images
from kith.social.files.process.colours import colours
from kith.social.files.process.run import run


def thumbnail(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    """A preview, and the colours of it."""
    report = images.preview(folder, path, mime)
    with Image.open(folder / report["file"]) as small:
        report["meta"]["colors"] = colours(small)
    return report


if __name__ == "__main__":
    run(
        {
            "attachment": images.still,
            "preview": images.preview,
            "thumbnail": thumbnail,
            "avatar": images.avatar,
            "header": images.header,
        }
    )
