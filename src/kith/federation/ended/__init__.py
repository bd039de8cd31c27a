"""What has ended elsewhere, remembered for a while: its end may arrive before its beginning."""
