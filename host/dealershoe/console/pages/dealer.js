// The dealer's page: the table, what to do now, and the keys. What it shows is the newest state and nothing else.

import { listen, logOut, me } from "/static/lib/host.js";
import { draw } from "/static/lib/oval.js";
import { Speaker } from "/static/lib/press.js";
import { openStart } from "/static/lib/start.js";
import { ackLine, Settled, showFaced, showNow, showRuling, showSignal, showSource, showSteps, showWhich } from "/static/lib/state.js";
import { lastSaid } from "/static/lib/story.js";
import { mute, muted, play, tryAll } from "/static/lib/tones.js";
import { chosen, languageChoice, say, sayAgain, sayIn, speak } from "/static/lib/words.js";

const TYPED = "dealershoe.typed";
const at = (id) => document.getElementById(id);
// A key says a line of a deal script. `seen`: a page that has not seen the newest step or ruling may not say it;
// `settled`: nor may a touch that came too soon after it to have been meant for it.
const KEYS = [
  { name: "act", line: () => "act", seen: true },
  { name: "complete", line: () => "betting complete", seen: true },
  { name: "over", line: () => "betting over", seen: true },
  { name: "exposed-dealer", line: () => exposed("dealer") },
  { name: "exposed-player", line: () => exposed("player") },
  { name: "floor", line: () => "call floor" },
  { name: "undo", line: () => "undo", settled: true },
  { name: "next", line: () => "hand next", settled: true, sure: inPlay },
];
const ACK = { name: "ack", line: () => ackLine(state), settled: true };

const mine = await me();
const table = new URLSearchParams(location.search).get("table") ?? mine.tables[0] ?? "";
let state = null;
let up = false;
let refused = ""; // why the host does not let this page listen
let stopped = false; // the console has said that it stops
let drawing = 0;
const settled = new Settled();
let armed = null; // a key that is to be pressed twice, and was once

await speak(chosen());
const speaker = new Speaker(at("notice"), (newer) => take(newer));

function exposed(by) {
  const last = state.draws.at(-1); // by its number: another card may have left by the time this arrives
  return last ? `exposed #${last.number} by=${by}` : `exposed by=${by}`;
}

/** Whether the next hand would cut this one short, which nobody can take back. */
function inPlay() {
  return state.link === "supervised" && !state.hand_over && (state.due.kind !== "nothing" || state.ruling !== null);
}

function sheet() {
  openStart(at("start"), state, (key, line) => speaker.say(key, table, line, { seen: state.version }));
}

function press(key, of) {
  if (!up || !state) {
    speaker.show(say("not-through", { key: say(`key.${of.name}`) }), "refused");
  } else if (of.name === "next" && !state.hand) {
    sheet();
  } else if (of.sure?.() && armed !== key) {
    disarm();
    armed = key;
    key.classList.add("armed");
    speaker.show(say("sure", { key: say(`key.${of.name}`) }), "waiting");
  } else {
    disarm();
    speaker.say(key, table, of.line(), of.settled ? { seen: settled.of(table) } : of.seen ? { seen: state.version } : {});
  }
}

function disarm() {
  armed?.classList.remove("armed");
  armed = null;
}

function keyOf(of, key = document.createElement("button")) {
  key.type = "button";
  key.dataset.name = say(`key.${of.name}`);
  key.dataset.typed = say(`typed.${of.name}`);
  key.setAttribute("aria-keyshortcuts", key.dataset.typed);
  const name = document.createElement("span");
  name.textContent = key.dataset.name;
  const typed = document.createElement("kbd");
  typed.textContent = key.dataset.typed;
  typed.setAttribute("aria-hidden", "true");
  key.replaceChildren(name, typed);
  key.onclick = () => press(key, of);
  return key;
}

function connected(now, why = "", ended = false) {
  if (now && !up && state) speaker.show(say("back"), "taken");
  up = now;
  refused = why;
  stopped = ended;
  document.body.classList.toggle("down", !now);
  for (const key of document.querySelectorAll(".key")) key.setAttribute("aria-disabled", String(!now));
  at("line").className = now ? "link" : "link lost";
  sayIn(at("line"), now ? `✓ ${say("connected")}` : `✗ ${say("not-connected")}`);
  banner();
}

function banner() {
  let text = "";
  let why = "";
  if (!up) [text, why] = [stopped ? say("stopped") : say("no-connection"), refused];
  else if (state?.floor_called) text = say("floor-called");
  else if (state?.question) [text, why] = [say("question"), state.question];
  else if (state?.link === "unsupervised") [text, why] = [say("unsupervised"), state.link_why];
  else if (state?.link === "align" && state.hand) [text, why] = [say("align"), state.link_why];
  else if (state?.faults.length) [text, why] = [say("fault"), state.faults];
  else if (state?.open) text = say("open-table");
  at("banner").hidden = !text;
  at("banner").className = up ? "" : "urgent";
  sayIn(at("banner"), text, why, state?.kinds);
}

/** A state that has come. `first`: on a new connection, where versions may have begun anew. */
function take(next, first = false) {
  if (state && !first && next.version < state.version) return; // an answer that was overtaken
  if (state && state.signal !== next.signal) play(next.signal);
  state = next;
  drawing ||= requestAnimationFrame(() => {
    drawing = 0;
    show();
  });
}

function show() {
  const ruling = state.ruling;
  const step = state.steps.find((one) => one.current);
  document.title = `${state.table} ${say(`signal.${state.signal}`)}`;
  document.body.dataset.signal = state.signal;
  document.body.dataset.table = state.table;
  document.body.dataset.version = state.version;
  sayIn(at("table"), state.table);
  sayIn(at("hand"), state.hand ? say("hand", { n: state.hand }) : say("no-hand"));
  sayIn(at("stack"), state.next_stack ? `${state.stack} → ${state.next_stack}` : state.stack);
  showSignal(at("signal"), state.signal);
  at("what").hidden = !ruling;
  showRuling(at("happened"), at("verdict"), state);
  showNow(at("now"), state);
  showWhich(at("which-card"), state);
  showFaced(at("faced"), at("ways"), state, (key, line) => {
    if (up) speaker.say(key, table, line);
    else speaker.show(say("not-through", { key: key.textContent }), "refused");
  });
  settled.shown(state);
  at("ack").hidden = !step && state.due.kind !== "ack" && !state.floor_called;
  at("all").hidden = state.steps.length < 2;
  showSteps(at("steps"), state);
  sayIn(at("which"), step ? say("step.of", { n: state.steps.indexOf(step) + 1, of: state.steps.length }) : "");
  showSource(at("clause"), ruling);
  sayAgain(at("aloud"), ruling ? [at("signal"), at("happened"), at("verdict"), at("now")] : []);
  draw(at("oval"), at("spoken"), state);
  banner();
}

/** What others say at this table is said here too, unless this page is busy with its own. */
function heard(happening) {
  if (happening.kind === "event" && !speaker.busy) {
    const [text, theirs] = lastSaid(happening.text, happening.origin);
    speaker.show(text, "", theirs);
  }
}

function build() {
  disarm();
  at("keys").replaceChildren(...KEYS.map((of) => keyOf(of)));
  for (const [key, of] of [...at("keys").children].map((made, n) => [made, KEYS[n]])) {
    key.className = of.name === "floor" ? "key call" : "key";
  }
  keyOf(ACK, at("ack"));
  at("mute").checked = muted();
  at("typed").checked = localStorage.getItem(TYPED) !== "no";
  connected(up);
  if (state) show();
}

function typed(event) {
  if (event.key === "Escape") {
    disarm();
    if (at("menu").open) {
      at("menu").open = false;
      at("menu").firstElementChild.focus();
    }
  }
  const elsewhere = event.ctrlKey || event.altKey || event.metaKey || event.repeat || at("start").open;
  if (elsewhere || at("menu").contains(document.activeElement) || localStorage.getItem(TYPED) === "no") return;
  const key = [at("ack"), ...at("keys").children].find((one) => one.dataset.typed === event.key.toUpperCase());
  if (key && !key.hidden) key.click();
}

at("choice").hidden = mine.tables.length < 2;
at("tables").append(...mine.tables.map((name) => new Option(name, name, false, name === table)));
at("tables").addEventListener("change", () => location.assign(`/dealer?table=${encodeURIComponent(at("tables").value)}`));
languageChoice(at("language"), build);
build();
at("seats").addEventListener("click", () => state && sheet());
at("mute").addEventListener("change", () => mute(at("mute").checked));
at("typed").addEventListener("change", () => localStorage.setItem(TYPED, at("typed").checked ? "yes" : "no"));
at("try").addEventListener("click", () => tryAll((signal) => speaker.show(signal ? say("tone", { signal: say(`signal.${signal}`) }) : "")));
at("out").addEventListener("click", logOut);
addEventListener("keydown", typed);
new ResizeObserver(() => state && draw(at("oval"), at("spoken"), state)).observe(at("felt"));
if (table) listen(table, { state: take, up: connected, happening: heard });
else speaker.show(say("no-table"), "refused");
