"""Everything at once for hours, with faults, and a look at whether anything was lost, doubled or stuck."""
