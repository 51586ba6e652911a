// The dealer's page: the table, what to do now, and the keys. What it shows is the newest state and nothing else.

import { listen, logOut, me, tell } from "/static/lib/host.js";
import { draw } from "/static/lib/oval.js";
import { mute, muted, play, tryAll } from "/static/lib/tones.js";
import { chosen, languageChoice, say, speak } from "/static/lib/words.js";

const at = (id) => document.getElementById(id);
const SHAPES = { ready: "●", attention: "▲", stop: "■", floor: "⚑", align: "◆", unsupervised: "○" };
// label, line of a deal script, class; a line of null is worked out when the key is pressed
const KEYS = [
  ["act", () => "act", ""],
  ["complete", () => "betting complete", ""],
  ["over", () => "betting over", ""],
  ["exposed-dealer", () => exposed("dealer"), ""],
  ["exposed-player", () => exposed("player"), ""],
  ["floor", () => "call floor", "strong"],
  ["undo", () => "undo", ""],
  ["next", () => "hand next", ""],
];

const mine = await me();
const table = new URLSearchParams(location.search).get("table") ?? mine.tables[0];
let state = null;
let up = false;

function exposed(by) {
  const last = state.draws.at(-1); // by its number: another card may have left by the time this arrives
  return last ? `exposed #${last.number} by=${by}` : `exposed by=${by}`;
}

function banner(text, kind = "") {
  at("banner").hidden = !text;
  at("banner").textContent = text;
  at("banner").className = kind;
}

async function press(line, seen) {
  try {
    const { status, body } = await tell(table, line, seen);
    if (status === 200) banner("");
    else if (status === 409 && body.state) {
      show(body.state);
      banner(say("moved-on"));
    } else banner(say("refused", { why: body.error }));
  } catch {
    connected(false);
  }
}

function connected(now) {
  up = now;
  document.body.classList.toggle("down", !now);
  for (const key of document.querySelectorAll(".key")) key.disabled = !now;
  if (!now) banner(say("no-connection"), "urgent");
  else if (at("banner").className === "urgent") banner("");
}

function show(next) {
  if (state && next.version < state.version) return; // an answer that was overtaken
  if (state && state.signal !== next.signal) play(next.signal);
  state = next;
  at("table").textContent = state.table;
  at("hand").textContent = state.hand ? say("hand", { n: state.hand }) : say("no-hand");
  at("stack").textContent = state.stack;
  at("signal").className = state.signal;
  at("signal").querySelector(".shape").textContent = SHAPES[state.signal];
  at("signal").querySelector(".word").textContent = say(`signal.${state.signal}`);
  document.body.dataset.signal = state.signal;
  draw(at("oval"), state);
  const ruling = state.rulings.at(-1);
  const step = state.steps.find((one) => one.current);
  at("happened").textContent = ruling ? `${say(`ruling.${ruling.ruling}`)}: ${ruling.say}` : say("nothing-wrong");
  at("now").textContent = step?.text ?? say(`due.${state.due.kind}`, { seat: state.due.seat });
  at("ack").hidden = !step;
  at("steps-title").hidden = state.steps.length < 2;
  at("steps").replaceChildren(
    ...(state.steps.length < 2 ? [] : state.steps).map((one) => {
      const item = document.createElement("li");
      item.textContent = one.text;
      if (one.done) item.className = "done";
      if (one.current) item.setAttribute("aria-current", "step");
      return item;
    }),
  );
  at("clause").textContent = ruling ? [ruling.cite, ruling.layer, say(`by-${ruling.decider}`)].filter(Boolean).join(" · ") : "";
  if (state.question) banner(say("question", { what: state.question }));
  else if (state.link !== "supervised") banner(state.link_why);
  else if (state.open) banner(say("open-table"));
  else if (at("banner").className !== "urgent") banner("");
}

function build() {
  at("keys").replaceChildren(
    ...KEYS.map(([name, line, cls]) => {
      const key = document.createElement("button");
      key.type = "button";
      key.className = `key ${cls}`;
      key.textContent = say(`key.${name}`);
      key.disabled = !up;
      key.addEventListener("click", () => press(line()));
      return key;
    }),
  );
  at("mute").textContent = say(muted() ? "unmute" : "mute");
  if (state) show(state);
}

await speak(chosen());
await languageChoice(at("language"), build);
build();
at("ack").addEventListener("click", () => press("ack", state.version));
at("mute").addEventListener("click", () => {
  mute(!muted());
  build();
});
at("try").addEventListener("click", tryAll);
at("out").addEventListener("click", logOut);
listen(table, { state: show, up: connected });
