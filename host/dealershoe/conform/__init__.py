"""Does a device or an emulator speak the protocol? For whoever builds a shoe of their own."""
