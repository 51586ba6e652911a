"""Takes the pictures of the console in `docs/`: both views, desktop and tablet, light and dark. For maintainers.

    python tests/browser/screenshots.py

Three tables play: at t1 the turn came before the betting was complete, two boxed cards came at t2, at t3 all is well.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from browser.pages import Dealer, Floor  # noqa: E402
from browser.room import Room, chromium, missing  # noqa: E402

SIZES = {"desktop": (1440, 900), "tablet": (800, 1280)}
SCHEMES = ("light", "dark")
RULES = {"t1": "roberts", "t2": "tda-2024+house", "t3": "tda-2024+house"}
SCRIPTS = {
    "t1": "hand seats=1-9 button=4\ndeal hole\nbetting complete\ndeal flop\nact 5 check\ncard burn\ncard board",
    "t2": "hand seats=1-3,5-8 button=7\ndeal 2\ncard 2 boxed\ncard 3 boxed",
    "t3": "hand seats=1,2,4-9 button=9\ndeal 11",
}


def main() -> None:
    """Play, look, and write the pictures."""
    why = missing()
    if why:
        sys.exit(f"no pictures: {why}")
    with tempfile.TemporaryDirectory() as folder, Room(Path(folder), RULES) as room, chromium() as browser:
        earlier = "hand seats=1-9 button=3\ndeal hole\nbetting over\ndeal river\naward"
        room.tables["t1"].play(earlier)
        for name, script in SCRIPTS.items():
            room.tables[name].play(script)
        for device, (width, height) in SIZES.items():
            for scheme in SCHEMES:
                for view, kind in (("dealer", Dealer), ("floor", Floor)):
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
                    )
                    page = kind.open(context.new_page(), room, view)
                    if view == "dealer":
                        page.see("#signal.attention")
                    page.page.wait_for_timeout(1500)  # what is asked for a second time has come by then
                    path = ROOT / "docs" / f"console-{view}-{device}-{scheme}.png"
                    page.page.screenshot(path=path, full_page=view == "floor" and device == "tablet")
                    print(path.relative_to(ROOT))
                    context.close()


if __name__ == "__main__":
    main()
