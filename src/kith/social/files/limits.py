"""How large a file may be, before and after it is processed."""

from __future__ import annotations

IMAGE_BYTES = 16 * 1024 * 1024
MOVING_BYTES = 99 * 1024 * 1024
PROFILE_BYTES = 8 * 1024 * 1024

IMAGE_PIXELS = 33_177_600  # what may come: 7680 by 4320
JPEG_SCANS = 100  # each goes over the whole picture, and an empty one takes a few bytes; programs write about ten
STORED_PIXELS = 8_294_400  # what is kept: 3840 by 2160
PREVIEW_PIXELS = 230_400  # 640 by 360
GIF_PIXELS = 921_600
VIDEO_PIXELS = 8_294_400
VIDEO_FRAMES = 36_000
VIDEO_FRAME_PIXELS = 60_000_000_000  # in all its frames together: 16 minutes of 1920 by 1080
VIDEO_FPS = 120
SOUND_SECONDS = 4 * 3600  # of what is written anew, which a few bytes may be enough for
AVATAR_SIDE = 400
ANIMATED_FRAMES = 300  # of a picture that moves and is no film
ANIMATED_PIXELS = 64_000_000  # in all its frames together
HEADER_PIXELS = 750_000  # 1500 by 500

DESCRIPTION = 10_000
PER_STATUS = 4
