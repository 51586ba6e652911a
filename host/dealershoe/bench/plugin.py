"""The pytest plugin `dealershoe`: fixtures for the tests of any program that speaks to a shoe."""
