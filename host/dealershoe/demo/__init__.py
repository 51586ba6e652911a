"""The demonstration: an emulated shoe, the bridge against its port, real incidents, checked to the end."""
