"""Caches in tiers: in the memory of a process, shared between processes, on the disk.

All are bounded in bytes and report their memory to `/metrics`. Nothing depends on them: without any entry, the program
would be slower, not different.
"""
