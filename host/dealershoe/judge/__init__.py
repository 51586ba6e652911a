"""Ruling on deal scripts: every event in turn, every expectation held against what the rule books said."""
