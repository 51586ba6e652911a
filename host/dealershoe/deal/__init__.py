"""Deal scripts: the text format that writes down a deal, one event a line: for tests, packs, reports and live input."""
