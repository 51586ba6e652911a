"""Rule packs: files that turn a finding into a ruling and a remedy. No card room, clause or rule is named in Python."""
