"""A bench for other people's tests: an emulated shoe, a dealer, a bad line and a bridge as pytest fixtures."""
