"""The program for all that plays: animated GIFs, videos, sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av

from kith.social.files.process import sound, video
from kith.social.files.process.opening import broken_as_refusal, open_media, pictures
from kith.social.files.process.run import run


def attachment(folder: Path, path: Path, mime: str) -> dict[str, Any]:
    av.logging.set_level(None)
    with broken_as_refusal():
        with open_media(path, mime) as container:
            has_pictures = bool(pictures(container))
        if has_pictures:
            return video.craft(folder, path, mime)
        return sound.craft(folder, path, mime)


if __name__ == "__main__":
    run({"attachment": attachment})
