from __future__ import annotations

import ssl

# Every town speaks plain HTTP: a client of it need not read the world's certificates first, which takes longer
# than most requests.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
