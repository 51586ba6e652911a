// The list of all tables, those first that need a person, and the plain tables of the floor's page.

import { showSignal, streetOf } from "/static/lib/state.js";
import { quoted, say, sayIn } from "/static/lib/words.js";

const URGENT = ["stop", "floor", "attention", "unsupervised", "align", "ready"];
const CALLING = URGENT.slice(0, 4);

/** The signal of a table; a floor that was called counts while nothing is judged, too. */
export const signalOf = (state) => (state.floor_called && state.signal !== "stop" ? "floor" : state.signal);

/** How many tables need a person. */
export const calling = (states) => states.filter((state) => CALLING.includes(signalOf(state))).length;

/** Tables in the order in which they need a person. */
export const byUrgency = (states) =>
  [...states].sort(
    (a, b) => URGENT.indexOf(signalOf(a)) - URGENT.indexOf(signalOf(b)) || a.table.localeCompare(b.table, undefined, { numeric: true }),
  );

function entry(state, choose) {
  const item = document.createElement("li");
  const key = document.createElement("button");
  key.type = "button";
  const head = document.createElement("span");
  head.className = "head";
  const name = document.createElement("span");
  const signal = document.createElement("span");
  head.append(name, signal);
  const line = document.createElement("span");
  line.className = "line";
  key.append(head, line);
  item.append(key);
  item.dataset.table = state.table;
  key.addEventListener("click", () => choose(state.table));
  return item;
}

function fill(item, state, chosen) {
  const key = item.firstElementChild;
  const [head, line] = key.children;
  sayIn(head.firstElementChild, state.table);
  showSignal(head.lastElementChild, signalOf(state));
  const hand = [state.hand ? say("hand", { n: state.hand }) : "", streetOf(state)].filter(Boolean).join(" · ");
  sayIn(line, state.ruling ? `${hand} ·` : hand, state.ruling?.happened || state.ruling?.say, state.kinds, state.ruling?.happened ? undefined : state.ruling?.language);
  if (state.table === chosen) key.setAttribute("aria-current", "true");
  else key.removeAttribute("aria-current");
}

/** Draw the list. Whatever has the focus keeps it when the order changes. */
export function drawTables(list, states, chosen, choose) {
  const known = new Map([...list.children].map((item) => [item.dataset.table, item]));
  const focused = document.activeElement;
  byUrgency(states).forEach((state, n) => {
    const item = known.get(state.table) ?? entry(state, choose);
    fill(item, state, chosen);
    if (list.children[n] !== item) list.insertBefore(item, list.children[n] ?? null);
  });
  if (list.contains(focused)) focused.focus();
}

/** A plain table: `heads` in words, `rows` of texts and nodes. Texts of the host are to be given as `quoted`. */
export function grid(heads, rows) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const words of heads) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = words;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    for (const cell of cells) row.insertCell().append(cell ?? "");
  }
  return table;
}

/** Fill a list of names and values. */
export function pairs(list, rows) {
  const key = JSON.stringify(rows.map(([name, value]) => [name, value?.textContent ?? value]));
  if (list.dataset.shown === key) return;
  list.dataset.shown = key;
  list.replaceChildren(
    ...rows.flatMap(([name, value]) => {
      const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
      term.append(name);
      detail.append(value);
      return [term, detail];
    }),
  );
}

/** A paragraph that says why there is nothing to show. */
export function nothing(text, why = "") {
  const made = document.createElement("p");
  made.className = "quiet";
  made.append(text, ...(why ? [" ", quoted(why)] : []));
  return made;
}
