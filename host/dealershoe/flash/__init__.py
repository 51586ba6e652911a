"""Puts the firmware on a Pico: compiles it, writes it beside the old version, and lets the Pico try it."""
