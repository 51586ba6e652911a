"""The emulated shoe: real firmware on stand-in hardware, moved by a model of the mechanics, and a scripted dealer."""
