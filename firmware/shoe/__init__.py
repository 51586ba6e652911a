"""The shoe's logic, for the firmware and for its tests: no pins in here, so it runs on CPython as well."""
