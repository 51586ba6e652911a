// The sheet on which a hand is begun: who is in, where button and blinds are, the game, who is away or sits out a penalty.

import { say } from "/static/lib/words.js";

const SEATS = 11;
const USUAL = 9;
const RULES = "rules"; // the button moves by the rules, or a blind follows it

function tile(type, name, value, words, checked) {
  const label = document.createElement("label");
  label.className = "tile";
  const input = Object.assign(document.createElement("input"), { type, name, value, defaultChecked: checked, checked });
  const face = document.createElement("span");
  face.textContent = words;
  label.append(input, face);
  return label;
}

function row(name, legend, tiles) {
  const set = document.createElement("fieldset");
  set.dataset.name = name;
  const title = document.createElement("legend");
  title.textContent = legend;
  const box = document.createElement("div");
  box.className = "tiles";
  box.append(...tiles);
  set.append(title, box);
  return set;
}

const seatTiles = (type, name, chosen) =>
  Array.from({ length: SEATS }, (_, n) => tile(type, name, n + 1, String(n + 1), chosen.includes(n + 1)));

const picked = (form, name) => [...form.querySelectorAll(`[name=${name}]:checked`)].map((input) => Number(input.value));

/**
 * The line of a deal script that begins a hand. `before`: the seats of the hand before it; `button`: a seat, or RULES.
 * `more`: by name, what else is said of a hand that is described in full: seats, or a word; nothing for RULES.
 */
export function handLine(seats, button, before, more) {
  const part = (name, list) => (list.length ? ` ${name}=${list.join(",")}` : "");
  if (button === RULES) {
    const gone = before.filter((seat) => !seats.includes(seat));
    const added = seats.filter((seat) => !before.includes(seat));
    return `hand next${part("gone", gone)}${part("new", added)}`;
  }
  const said = Object.entries(more).map(([name, value]) => part(name, [value].flat().filter((one) => one !== RULES)));
  return `hand${part("seats", seats)} button=${button}${said.join("")}`;
}

/** Open the sheet for a table in `state`. `begin(key, line)` says the line and gives "" or why not. */
export function openStart(dialog, state, begin) {
  const before = state.seats.filter((view) => !view.marks.includes("not in")).map((view) => view.seat);
  const form = document.createElement("form");
  form.method = "dialog";
  const title = document.createElement("h2");
  title.id = "start-title";
  title.textContent = say("start.title", { table: state.table });
  const usual = before.length ? before : Array.from({ length: USUAL }, (_, n) => n + 1);
  const known = before.length > 0;
  const button = row("button", say("start.button"), [
    ...(known ? [tile("radio", "button", RULES, say("start.by-rules"), true)] : []),
    ...seatTiles("radio", "button", []),
  ]);
  const error = document.createElement("p");
  error.className = "refused";
  error.setAttribute("role", "alert");
  const blind = (name, title, others) =>
    row(name, title, [
      tile("radio", name, RULES, say("start.blind-by-rules"), true),
      ...others,
      ...seatTiles("radio", name, []),
    ]);
  const blinds = [blind("sb", say("start.sb"), [tile("radio", "sb", "dead", say("start.dead"), false)]), blind("bb", say("start.bb"), [])];
  const game = row("game", say("start.game"), [
    tile("radio", "game", RULES, say("start.holdem"), true),
    tile("radio", "game", "stud", say("start.stud"), false),
  ]);
  const kept = Object.assign(document.createElement("p"), { className: "quiet", textContent: say("start.kept") });
  const rest = document.createElement("details");
  rest.className = "more";
  rest.append(Object.assign(document.createElement("summary"), { textContent: say("start.more") }));
  const away = row("away", say("start.away"), seatTiles("checkbox", "away", []));
  const penalty = row("penalty", say("start.penalty"), seatTiles("checkbox", "penalty", []));
  const cancel = Object.assign(document.createElement("button"), { type: "button", className: "key", textContent: say("cancel") });
  const go = Object.assign(document.createElement("button"), { className: "key strong", textContent: say("start.go") });
  const ends = document.createElement("div");
  ends.className = "ends";
  ends.append(cancel, go);
  rest.append(...blinds, game);
  form.append(title, row("seats", say("start.seats"), seatTiles("checkbox", "seats", usual)), button, away, penalty, rest, kept, error, ends);
  const follow = () => {
    const byRules = form.elements.button.value === RULES; // and so has the next hand of the same table all the rest
    for (const one of [away, penalty, rest]) one.hidden = byRules;
    kept.hidden = !byRules;
    for (const one of blinds) one.hidden = form.elements.game.value === "stud"; // which has antes and a bring-in
  };
  form.addEventListener("change", follow);
  cancel.addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const seats = picked(form, "seats");
    const chosen = form.elements.button.value;
    const stud = form.elements.game.value === "stud";
    error.textContent = seats.length < 2 ? say("start.few") : chosen ? "" : say("start.no-button");
    if (error.textContent) return;
    const line = handLine(seats, chosen === RULES ? RULES : Number(chosen), before, {
      sb: stud ? RULES : form.elements.sb.value,
      bb: stud ? RULES : form.elements.bb.value,
      game: form.elements.game.value,
      absent: picked(form, "away"),
      penalty: picked(form, "penalty"),
    });
    error.textContent = await begin(go, line);
    if (!error.textContent) dialog.close();
  });
  dialog.setAttribute("aria-labelledby", "start-title");
  dialog.replaceChildren(form);
  follow();
  dialog.showModal();
}
