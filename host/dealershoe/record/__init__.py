"""The record: the journal's tables, their hash chain and signatures; reading, verifying, replaying, exporting it."""
