// The floor's page: all tables, those first that need a person, and all about the one that is chosen.

import { get, listen, logOut, me, post, tablePath } from "/static/lib/host.js";
import { draw } from "/static/lib/oval.js";
import { Speaker } from "/static/lib/press.js";
import { openStart } from "/static/lib/start.js";
import { ackLine, Settled, showFaced, showNow, showRuling, showSignal, showSource, showSteps, showWhich } from "/static/lib/state.js";
import { clauseOf, fromWhom, told } from "/static/lib/story.js";
import { byUrgency, calling, drawTables, grid, nothing, pairs, signalOf } from "/static/lib/tables.js";
import { mute, muted, play, tryAll } from "/static/lib/tones.js";
import { chosen, languageChoice, quoted, say, sayAgain, sayIn, speak, theirs } from "/static/lib/words.js";

const DECISIONS = ["misdeal", "play-on", "void", "dead"];
const HANDS = 10;
const HISTORY = 100; // lines kept of a table on this page
const ASIDE = ["link", "fault", "note", "refused", "question", "rules"]; // happenings that are not of the deal
const RECORD_MS = 300; // what happened is in the record by then
const at = (id) => document.getElementById(id);

const mine = await me();
const may = (right) => mine.rights.includes(right);
const states = new Map();
const asides = new Map(mine.tables.map((name) => [name, []])); // what was heard beside the deal, the latest first
let record = []; // what the record has of the hand in play, the latest first
let table = new URLSearchParams(location.search).get("table") ?? null;
let up = false;
let drawing = 0;
let news = 0; // happenings of the deal that this page has heard
let telling; // the record is about to be asked for again
const settled = new Settled();
let asked = {}; // what was asked for the chosen table, so that it is asked again only when it can have changed

await speak(chosen());
const speaker = new Speaker(at("notice"), (newer) => take(newer));

function connected(now, why = "", stopped = false) {
  if (now && !up && states.size) speaker.show(say("back"), "taken");
  up = now;
  document.body.classList.toggle("down", !now);
  for (const key of document.querySelectorAll(".key")) key.setAttribute("aria-disabled", String(!now));
  at("line").className = now ? "link" : "link lost";
  sayIn(at("line"), now ? `✓ ${say("connected")}` : `✗ ${say("not-connected")}`);
  at("banner").hidden = now;
  at("banner").className = "urgent";
  sayIn(at("banner"), now ? "" : stopped ? say("stopped") : say("no-connection"), why);
}

function take(next, first = false) {
  const last = states.get(next.table);
  if (last && !first && next.version < last.version) return;
  if (last && signalOf(last) !== signalOf(next)) play(signalOf(next));
  states.set(next.table, next);
  if (states.size === mine.tables.length) table ??= byUrgency(states.values())[0].table;
  later();
}

function heard(happening) {
  if (ASIDE.includes(happening.kind)) {
    const heardOf = asides.get(happening.table);
    heardOf?.unshift({ from: say(happening.kind === "rules" || happening.kind === "link" || happening.kind === "fault" ? `origin.${happening.kind}` : "origin.note"), nodes: () => [theirs(happening.text, happening.kinds)], at: Date.now() });
    if (heardOf?.length > HISTORY) heardOf.pop();
    later();
  } else if (happening.table === table && !["stats", "due"].includes(happening.kind)) {
    clearTimeout(telling);
    telling = setTimeout(() => {
      news += 1;
      later();
    }, RECORD_MS);
  }
}

/** What the record has of the hand in play. */
function remember(body, status) {
  record = status === 200 ? body.story.map((one) => ({ from: fromWhom(one), at: Date.parse(one.at), nodes: () => sentences(one, body.kinds), ruling: one.kind === "ruling" })).reverse() : [];
  at("history").dataset.shown = "";
  later();
}

/** A line of the record, with the reason that was given for it. */
function sentences(one, kinds) {
  return one.reason ? [...told(one, kinds), " ", say("floor.because", { reason: one.reason })] : told(one, kinds);
}

function later() {
  drawing ||= requestAnimationFrame(() => {
    drawing = 0;
    show();
  });
}

function choose(name) {
  table = name;
  asked = {};
  record = [];
  history.replaceState(null, "", `?table=${encodeURIComponent(name)}`);
  speaker.show("");
  at("decide").reset();
  later();
}

function show() {
  const needy = calling([...states.values()]);
  document.title = needy ? say("floor.calling", { n: needy }) : say("floor.title");
  sayIn(at("calling"), needy ? say("floor.calling", { n: needy }) : say("floor.calm"));
  drawTables(at("tables"), [...states.values()], table, choose);
  const state = states.get(table);
  at("table").hidden = !state;
  document.body.dataset.table = state?.table ?? "";
  document.body.dataset.version = state?.version ?? "";
  if (!state) return;
  sayIn(at("title"), `${say("table")} ${state.table} · ${state.hand ? say("hand", { n: state.hand }) : say("no-hand")}`);
  showSignal(at("signal"), signalOf(state));
  showRuling(at("happened"), at("verdict"), state);
  if (!state.ruling) sayIn(at("verdict"), say("floor.no-ruling"));
  showSource(at("clause"), state.ruling);
  showNow(at("now"), state);
  showWhich(at("which-card"), state);
  at("asked").hidden = !state.question;
  sayIn(at("asked"), state.question ? say("question") : "", state.question ?? "", state.kinds);
  showFaced(at("faced"), at("ways"), may("say") ? state : { ...state, unseen: [] }, (key, line) => speaker.say(key, table, line));
  showSteps(at("steps"), state);
  const loud = ["stop", "floor"].includes(signalOf(state));
  sayAgain(at("aloud"), loud ? [at("signal"), at("happened"), at("verdict")] : [], loud ? `${state.table}: ` : "");
  draw(at("oval"), at("spoken"), state);
  seats(state);
  showHistory();
  pairs(at("rules-now"), [
    [say("rules.in-force"), quoted(state.stack)],
    [say("floor.next-stack"), state.next_stack ? quoted(state.next_stack) : say("floor.same")],
  ]);
  health(state);
  ask("books", JSON.stringify(state.ruling), tablePath(table, "/books"), showBooks);
  ask("hands", `${state.hand} ${state.hand_over}`, tablePath(table, `/hands?last=${HANDS}`), showHands);
  ask("rules", "", "/api/v1/rules", showRules);
  if (state.hand) ask("story", `${state.hand} ${news}`, tablePath(table, `/hands/${state.hand}`), remember);
  settled.shown(state);
}

/** Ask the host for `path` if `key` is not what it was asked for last; `then(body, status)` draws the answer. */
async function ask(name, key, path, then) {
  if (asked[name] === key) return;
  asked[name] = key;
  const whose = table;
  try {
    const { status, body } = await get(path);
    if (whose === table) then(body, status);
  } catch {
    asked[name] = undefined; // the connection is lost, which the page says elsewhere
  }
}

const missing = (status, body) => (status === 404 ? nothing(say("floor.not-offered")) : nothing(say("floor.not-now"), body.error));

function showBooks(body, status) {
  if (status !== 200) at("books").replaceChildren(missing(status, body));
  else if (!body.length) at("books").replaceChildren(nothing(say("floor.no-books")));
  else {
    const heads = ["floor.stack-name", "floor.ruling", "floor.says", "floor.clause"].map((key) => say(key));
    at("books").replaceChildren(
      grid(heads, body.map((one) => [quoted(one.stack), say(`ruling.${one.ruling}`), theirs(one.say, one.kinds, one.language), quoted([one.cite, one.layer].filter(Boolean).join(" · "), one.language)])),
    );
  }
}

function showHands(body, status) {
  if (status !== 200) {
    at("hands").replaceChildren(missing(status, body));
    return;
  }
  const heads = ["floor.hand", "floor.began", "floor.seats", "short.button", "floor.cards", "floor.ruling"].map((key) => say(key));
  const rows = body.hands.map((hand) => {
    const key = Object.assign(document.createElement("button"), { type: "button", textContent: say("hand", { n: hand.hand }) });
    key.addEventListener("click", () => story(hand.hand));
    const ruled = document.createElement("span");
    ruled.append(...(hand.rulings.length ? hand.rulings.flatMap((one, n) => [n ? ", " : "", say(`ruling.${one.ruling}`), ...clauseOf(one)]) : ["–"]));
    const began = new Date(hand.began).toLocaleTimeString(document.documentElement.lang);
    return [key, began, hand.seats.join(", "), String(hand.button), String(hand.draws), ruled];
  });
  at("hands").replaceChildren(rows.length ? grid(heads, rows) : nothing(say("floor.no-hands")));
}

async function story(number) {
  const { status, body } = await get(tablePath(table, `/hands/${number}`));
  const title = document.createElement("h2");
  title.id = "story-title";
  title.textContent = say("floor.story", { n: number, table });
  const list = document.createElement("ol");
  for (const one of status === 200 ? body.story : []) {
    const item = document.createElement("li");
    const when = new Date(one.at).toLocaleTimeString(document.documentElement.lang);
    item.append(`${when} ${fromWhom(one)}: `, ...told(one, body.kinds));
    if (one.reason) {
      const reason = document.createElement("span");
      reason.className = "reason";
      reason.textContent = say("floor.because", { reason: one.reason });
      item.append(reason);
    }
    list.append(item);
  }
  const close = Object.assign(document.createElement("button"), { type: "button", className: "key", textContent: say("close") });
  close.addEventListener("click", () => at("story").close());
  at("story").setAttribute("aria-labelledby", "story-title");
  at("story").replaceChildren(title, status === 200 ? list : missing(status, body), close);
  at("story").showModal();
}

function showRules(body, status) {
  const offered = status === 200 && may("rules");
  at("rules").hidden = !offered;
  at("rules-none").hidden = offered;
  if (status !== 200) at("rules-none").replaceChildren(missing(status, body));
  else if (!may("rules")) sayIn(at("rules-none"), say("floor.look-only"));
  else at("stack").replaceChildren(...body.stacks.map((name) => Object.assign(new Option(name, name, false, name === states.get(table).stack), { lang: "en" })));
}

function health(state) {
  const counts = Object.entries(state.counts).map(([name, n]) => `${n} ${say(`counts.${name}`)}`);
  pairs(at("health"), [
    [say("floor.link"), say(`link-is.${state.link}`)],
    ...(state.link_why ? [[say("floor.why"), theirs(state.link_why, state.kinds)]] : []),
    ...(state.faults.length ? state.faults : [""]).map((fault) => [say("floor.faults"), fault ? theirs(fault, state.kinds) : say("floor.none")]),
    [say("floor.light"), `${say(`light.${state.light.state}`)}; ${say(`sound.${state.light.state}`)}`],
    ...state.health.map((one) => [say(`health.${one.figure}`), one.value]),
    [say("floor.counts"), counts.join(", ")],
    ...state.notes.map((note) => [say("floor.note"), theirs(note, state.kinds)]),
  ]);
}

function showHistory() {
  const history = [...record, ...(asides.get(table) ?? [])].sort((a, b) => b.at - a.at).slice(0, HISTORY); // stable: the record keeps its order
  const newest = `${table} ${history[0]?.at} ${history.length} ${record.length}`;
  if (at("history").dataset.shown === newest) return;
  at("history").dataset.shown = newest;
  at("history-box").hidden = !history.length;
  at("history-none").hidden = history.length > 0;
  at("history").replaceChildren(
    ...history.map((one) => {
      const item = document.createElement("li");
      const [kind, text] = [document.createElement("span"), document.createElement("span")];
      kind.className = "kind";
      kind.textContent = one.from;
      text.className = one.ruling ? "ruling" : "";
      text.append(...one.nodes());
      item.append(kind, text);
      return item;
    }),
  );
}

function seats(state) {
  const key = state.seats.map((view) => view.seat).join(",");
  if (at("seat").dataset.shown === key) return;
  at("seat").dataset.shown = key;
  at("seat").replaceChildren(...state.seats.map((view) => new Option(String(view.seat), view.seat)));
}

const seen = () => ({ seen: states.get(table).version });
const sure = () => ({ seen: settled.of(table) }); // for what cannot be unsaid

async function decide(event) {
  event.preventDefault();
  const decision = at("decide").elements.what.value;
  const reason = at("reason").value.trim();
  if (!decision || !reason) {
    speaker.show(say(decision ? "floor.no-reason" : "floor.no-decision"), "refused");
    (decision ? at("reason") : at("decisions").querySelector("input")).focus();
    return;
  }
  const line = decision === "dead" ? `floor dead ${at("seat").value}` : `floor ${decision}`;
  if (!(await speaker.say(at("decision"), table, line, { ...seen(), reason }))) at("decide").reset();
  deadSeat();
}

function deadSeat() {
  at("dead-seat").hidden = at("decide").elements.what.value !== "dead";
}

async function activate(event) {
  event.preventDefault();
  const stack = at("stack").value;
  try {
    const { status, body } = await post(tablePath(table, "/rules"), { id: crypto.randomUUID(), stack });
    if (status < 300) speaker.show(say("floor.activated", { stack }), "taken");
    else speaker.show(say("refused", { key: say("floor.activate") }), "refused", body.error);
  } catch {
    speaker.show(say("not-through", { key: say("floor.activate") }), "refused");
  }
}

function build() {
  for (const name of ["ack", "undo"]) at(name).textContent = say(`key.${name}`);
  const kept = at("decide").elements.what?.value;
  at("decisions").replaceChildren(
    ...DECISIONS.map((name) => {
      const label = document.createElement("label");
      label.className = "tile";
      const input = Object.assign(document.createElement("input"), { type: "radio", name: "what", value: name, checked: name === kept });
      const face = document.createElement("span");
      face.textContent = say(`ruling.${name}`);
      label.append(input, face);
      return label;
    }),
  );
  at("decide").hidden = !may("decide");
  at("quick").hidden = !may("say");
  at("begin").hidden = !may("say");
  at("rules").hidden = !may("rules");
  at("mute").checked = muted();
  asked = {};
  at("history").dataset.shown = "";
  connected(up);
  later();
}

languageChoice(at("language"), build);
build();
at("decide").addEventListener("submit", decide);
at("decide").addEventListener("change", deadSeat);
at("decide").noValidate = true; // what is missing is said in the page's own words
at("rules").addEventListener("submit", activate);
at("ack").addEventListener("click", () => speaker.say(at("ack"), table, ackLine(states.get(table)), sure()));
at("undo").addEventListener("click", () => speaker.say(at("undo"), table, "undo", sure()));
at("begin").addEventListener("click", () => openStart(at("start"), states.get(table), (key, line) => speaker.say(key, table, line, seen())));
at("mute").addEventListener("change", () => mute(at("mute").checked));
at("try").addEventListener("click", () => tryAll((signal) => speaker.show(signal ? say("tone", { signal: say(`signal.${signal}`) }) : "")));
at("out").addEventListener("click", logOut);
new ResizeObserver(() => states.has(table) && draw(at("oval"), at("spoken"), states.get(table))).observe(at("felt"));
if (mine.tables.length) listen(null, { state: take, up: connected, happening: heard });
else {
  at("table").hidden = true;
  at("banner").hidden = false;
  sayIn(at("banner"), say("no-table"));
}
