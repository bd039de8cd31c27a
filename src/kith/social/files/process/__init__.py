"""The workshop's programs, in which files from outside are opened, and nowhere else.

Each works in the folder it is started in, on the file `source`, and leaves its results and `report.json` there.
Nothing else in Kith imports these modules: the decoders never enter the server's memory.
"""
