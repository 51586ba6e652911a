// A key that says something at a table. It shows at once that it was pressed, then whether the table took it, and a
// line of words says the same.

import { tell } from "/static/lib/host.js";
import { say, sayIn } from "/static/lib/words.js";

const SLOW_MS = 1000; // then the page says that it is waiting
const SHOWN_MS = 2000; // how long a key shows what became of it

/** Who says lines at one table, and the line of words under them. `stale(state)` gets the state of a stale page. */
export class Speaker {
  constructor(notice, stale) {
    this.notice = notice;
    this.stale = stale;
    this.pending = 0;
    this.answered = -Infinity; // when, in ms of the page
  }

  /** Put words in the notice. `kind`: "", "taken", "refused" or "waiting"; `why`: the host's own sentence. */
  show(text, kind = "", why = "", kinds = {}) {
    this.notice.className = kind;
    sayIn(this.notice, text, why, kinds);
  }

  /** Whether the notice is the answer to a key of this page, which nobody else's words should replace. */
  get busy() {
    return this.pending > 0 || performance.now() - this.answered < SHOWN_MS;
  }

  /** Say `line` at `table` with `key`. Returns "" when it was taken, else why not. */
  async say(key, table, line, more = {}) {
    const name = key.dataset.name ?? key.textContent;
    key.dataset.state = "sent";
    key.setAttribute("aria-busy", "true");
    this.pending += 1;
    const slow = setTimeout(() => this.show(say("waiting", { key: name }), "waiting"), SLOW_MS);
    let taken = false;
    try {
      const { status, body } = await tell(table, line, more);
      taken = status === 200;
      if (taken) this.show(say("taken", { key: name }), "taken");
      else if (status === 409 && body.state) {
        this.show(say("moved-on", { key: name }), "refused");
        this.stale(body.state);
      } else this.show(say("refused", { key: name }), "refused", body.error, body.kinds);
    } catch {
      this.show(say("not-through", { key: name }), "refused");
    }
    clearTimeout(slow);
    this.pending -= 1;
    this.answered = performance.now();
    key.removeAttribute("aria-busy");
    key.dataset.state = taken ? "taken" : "refused";
    clearTimeout(key.shown);
    key.shown = setTimeout(() => delete key.dataset.state, SHOWN_MS);
    return taken ? "" : this.notice.textContent;
  }
}
