// What pages of both kinds make of a table's state: the shape of its signal, the ruling that is open, its steps.

import { placeIn, say, sayIn, theirs } from "/static/lib/words.js";

export const SHAPES = { ready: "●", attention: "▲", stop: "■", floor: "⚑", align: "◆", unsupervised: "○" };

/** The street in words; none while cards are shuffled: what they are for is not said yet. */
export function streetOf(state) {
  if (!state.hand) return say("no-hand");
  return state.due.kind === "shuffle" ? "" : say(`street.${state.street}`);
}

/** What a person says who has done the step on display. */
export const ackLine = (state) => (state.shuffle ? `shuffled ${state.shuffle}` : "ack");

/** Put a signal into an element: shape and word, so that its colour is not needed. */
export function showSignal(element, signal) {
  element.className = `signal ${signal}`;
  sayIn(element, `${SHAPES[signal]} ${say(`signal.${signal}`)}`);
}

/** What happened, and what follows from it, each into its element; nothing without a ruling. */
export function showRuling(happened, verdict, { ruling, kinds }) {
  sayIn(happened, "", ruling?.happened, kinds);
  sayIn(verdict, ruling ? `${say(`ruling.${ruling.ruling}`)}:` : "", ruling?.say, kinds, ruling?.language);
}

/** What is to be done now, in words. */
export function showNow(element, state) {
  const step = state.steps.find((one) => one.current);
  if (step) sayIn(element, "", step.text, state.kinds);
  else if (state.link === "align") sayIn(element, say("now.begin"));
  else if (state.link === "unsupervised") sayIn(element, say("now.alone"));
  else if (state.signal === "floor") sayIn(element, say("now.floor"));
  else sayIn(element, say(`now.${state.due.kind}`, { seat: state.due.seat }));
}

/** Which card is meant: nobody at a table counts them. Nothing where what is to be done names none. */
export function showWhich(element, state) {
  const step = state.steps.find((one) => one.current);
  const last = state.draws.at(-1)?.number;
  const known = [...new Set([...(step?.text ?? "").matchAll(/#(\d+)/g)].map((found) => Number(found[1])))].flatMap((n) => {
    const draw = state.draws.find((one) => one.number === n);
    if (!draw) return [];
    return [n === last ? say("which.last", { n }) : say("which.before", { n, back: last - n, place: placeIn(draw.place) })];
  });
  element.hidden = !known.length;
  sayIn(element, known.join("; "));
}

/** The version of a table that whoever looks at a page has had time to see: what a key that cannot be unsaid goes by. */
export class Settled {
  constructor() {
    this.table = "";
    this.version = 0;
  }

  /** A state was put on the page. */
  shown(state) {
    setTimeout(() => {
      this.table = state.table;
      this.version = state.version;
      document.body.dataset.settled = state.version;
    }, REACT_MS);
  }

  /** The version that was seen of `table`. */
  of(table) {
    return this.table === table ? this.version : 0;
  }
}

const REACT_MS = 250; // nobody sees and touches within that time: what is touched so soon was meant for what stood there before
const FACED = 3; // cards at most: a flash may have hidden more, and they are asked for when these are answered

/** Two keys for each card that no head saw: which way up it left the shoe. `tell(key, line)` says what was pressed. */
export function showFaced(box, list, state, tell) {
  const numbers = state.unseen.slice(0, FACED);
  box.hidden = !numbers.length;
  const shown = `${state.table} ${numbers} ${document.documentElement.lang}`;
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  const since = performance.now();
  const ways = [
    ["boxed", (n) => say("faced.up", { n })],
    ["not-boxed", (n) => say("faced.down", { n })],
  ];
  list.replaceChildren(
    ...numbers.flatMap((n) =>
      ways.map(([word, name]) => {
        const key = Object.assign(document.createElement("button"), { type: "button", className: "key", textContent: name(n) });
        key.dataset.line = `report ${word} #${n}`;
        key.onclick = () => {
          if (performance.now() - since >= REACT_MS) tell(key, key.dataset.line); // it was meant for this card
        };
        return key;
      }),
    ),
  );
}

/** The steps of the remedy, those that are done marked with a sign. */
export function showSteps(list, state) {
  const key = JSON.stringify(state.steps);
  if (list.dataset.shown === key + document.documentElement.lang) return;
  list.dataset.shown = key + document.documentElement.lang;
  list.hidden = state.steps.length < 2; // one alone is what is to be done now
  list.replaceChildren(
    ...state.steps.map((one) => {
      const item = document.createElement("li");
      item.append(theirs(one.text, state.kinds));
      if (one.done) {
        item.className = "done";
        item.append(` ✓ ${say("step.done")}`);
      }
      if (one.current) item.setAttribute("aria-current", "step");
      return item;
    }),
  );
}

/** Who decides, the clause and the layer, into an element; nothing without a ruling. */
export function showSource(element, ruling) {
  const source = ruling ? [ruling.cite, ruling.layer].filter(Boolean).join(" · ") : "";
  sayIn(element, ruling ? say(`by-${ruling.decider}`) + (source ? " ·" : "") : "", source, {}, ruling?.language);
}
