"""What a `Link` tells its owner: the namedtuples that `receive` and `poll` return. Their types are in `notice.pyi`."""

from collections import namedtuple

# A shoe has greeted this host: answer with `Link.resume`.
Greeting = namedtuple("Greeting", ("hello", "ident"))
# Both ends have greeted; frames flow. `minor` is the lower of the two.
LinkUp = namedtuple("LinkUp", ("hello", "ident", "minor"))
# "silence": no frame for LOST_MS. "restart": the peer greets anew. The link greets again by itself.
LinkLost = namedtuple("LinkLost", ("reason",))
# No session with this peer: "major" (another protocol) or "journal" (numbers that cannot be). `detail` is a sentence.
Refused = namedtuple("Refused", ("reason", "detail"))
# Host: a journalled event, once and in order. `message` is None for a kind this schema does not know.
Recorded = namedtuple("Recorded", ("number", "kind", "message", "body"))
# An unnumbered message (host: STATS, PONG) or a desired state (shoe: SIGNAL, DUE), newer than the one before.
Delivered = namedtuple("Delivered", ("kind", "message"))
# Host: the events `first` to `next` - 1 are gone for good, acknowledged by another host.
Gap = namedtuple("Gap", ("first", "next"))
# "unknown critical kind" or "short body": the deal must stop; nothing numbered after it is delivered.
Stopped = namedtuple("Stopped", ("reason", "kind", "number"))
# Shoe: the journal refuses events (so many until now) / takes them again (so many were refused).
JournalFull = namedtuple("JournalFull", ("refused",))
JournalRoom = namedtuple("JournalRoom", ("refused",))
