"""How large messages and their parts may be."""

MOST_BYTES = 256 * 1024
MOST_DEPTH = 40
MOST_ELEMENTS = 5000
MOST_ATTRIBUTES = 50
MOST_NAMESPACES = 60
MOST_ID = 256
MOST_NAME = 2000
MOST_INDEXES = 50
MOST_RELAY_STATE = 2000
# By how much the clocks of two servers may differ.
SKEW_SECONDS = 60.0
MOST_AGE_SECONDS = 300.0  # of a request to sign somebody out
