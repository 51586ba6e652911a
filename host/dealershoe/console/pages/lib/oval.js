// The table as an oval, seen from the dealer, who sits below: seat 1 at the dealer's left hand, then clockwise.
// The picture is for eyes; the same is said as a list for whoever has it read to them.

import { streetOf } from "/static/lib/state.js";
import { say } from "/static/lib/words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;
const LOWEST = 410; // of the picture; it is as high as its place on the page allows
const HIGHEST = 510;
const FEWEST = 9; // places of an ordinary table; a higher seat makes room for itself
const BOARD = 5;
const ABOVE_DEALER = 24; // degrees kept free on each side of the dealer

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function text(x, y, words, cls) {
  const made = element("text", { x, y, class: cls });
  made.textContent = words;
  return made;
}

function place(seat, seats, high) {
  const free = 90 + ABOVE_DEALER;
  const angle = ((free + ((seat - 0.5) / seats) * (360 - 2 * ABOVE_DEALER)) * Math.PI) / 180;
  return [WIDTH / 2 + 266 * Math.cos(angle), middle(high) + (high / 2 - 56) * Math.sin(angle)];
}

const middle = (high) => high / 2 - 14; // of the cloth, from above

function backs(x, y, count, slots, size) {
  const [wide, high] = size;
  const step = wide + 4;
  const first = x - (Math.max(count, slots) * step - 4) / 2;
  return Array.from({ length: Math.max(count, slots) }, (_, n) =>
    element("rect", { x: first + n * step, y: y - high / 2, width: wide, height: high, rx: 2, class: n < count ? "back" : "slot" }),
  );
}

const arrow = (x, y) => element("path", { d: `M${x - 13} ${y - 18} h26 l-13 17 z`, class: "arrow" });

function emptySeat([x, y], seat) {
  const group = element("g", { class: "seat empty" });
  group.append(element("rect", { x: x - 42, y: y - 33, width: 84, height: 66, rx: 14, class: "place" }));
  group.append(text(x, y + 9, String(seat), "number"));
  return group;
}

function seatOf([x, y], view) {
  const classes = ["seat", view.due && "due", ...view.marks.map((mark) => mark.replace(" ", "-"))].filter(Boolean).join(" ");
  const group = element("g", { class: classes });
  group.append(element("rect", { x: x - 42, y: y - 33, width: 84, height: 66, rx: 14, class: "place" }));
  const words = view.marks.filter((mark) => mark !== "button").map((mark) => say(`short.${mark}`));
  group.append(text(words.length ? x - 19 : x, y - 4, String(view.seat), "number"));
  words.slice(0, 2).forEach((word, n) => group.append(text(x + 17, y - 7 + (n - (words.length > 1 ? 0.6 : 0)) * 14, word, "badge")));
  if (view.faces.length) group.append(text(x, y + 23, view.faces.join(" "), "faces"));
  else group.append(...backs(x, y + 17, view.cards, 0, [11, 16]));
  if (view.marks.includes("button")) {
    const side = x < WIDTH / 2 ? 1 : -1;
    group.append(element("circle", { cx: x + side * 45, cy: y + 24, r: 15, class: "disc" }));
    group.append(text(x + side * 45, y + 30, say("short.button"), "disc-letter"));
  }
  if (view.due) group.append(arrow(x, y - 36));
  return group;
}

function pile(x, y, words, count, lit) {
  const group = element("g", { class: lit ? "pile due" : "pile" });
  group.append(element("rect", { x: x - 40, y: y - 24, width: 80, height: 48, rx: 8, class: "place" }));
  group.append(text(x, y - 4, words, "badge"), text(x, y + 17, String(count), "count"));
  if (lit) group.append(arrow(x, y - 26));
  return group;
}

function board(y, state, lit) {
  const group = element("g", { class: lit ? "pile due" : "pile" });
  group.append(element("rect", { x: WIDTH / 2 - 82, y: y - 30, width: 164, height: 60, rx: 8, class: "place" }));
  if (state.board_faces.length) group.append(text(WIDTH / 2, y + 8, state.board_faces.join(" "), "count"));
  else group.append(...backs(WIDTH / 2, y, state.board, BOARD, [24, 36]));
  if (lit) group.append(arrow(WIDTH / 2, y - 32));
  return group;
}

/** Draw a state into `svg`, and say it in the list `spoken`. */
export function draw(svg, spoken, state) {
  const seats = Math.max(FEWEST, ...state.seats.map((view) => view.seat));
  const due = state.due.kind;
  const high = Math.min(HIGHEST, Math.max(LOWEST, Math.floor((WIDTH * svg.clientHeight) / (svg.clientWidth || WIDTH))));
  const y = middle(high);
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${high}`);
  svg.replaceChildren(
    element("ellipse", { cx: WIDTH / 2, cy: y, rx: 212, ry: high / 2 - 98, class: "cloth" }),
    text(WIDTH / 2, y - 56, streetOf(state), "street"),
    pile(WIDTH / 2 - 134, y - 4, say("burns"), state.burns, due === "burn"),
    board(y - 4, state, due === "board"),
    pile(WIDTH / 2 + 134, y - 4, say("muck"), state.muck, false),
    text(WIDTH / 2, y + 64, say(`due.${due}`, { seat: state.due.seat }), "due-text"),
    element("rect", { x: WIDTH / 2 - 52, y: high - 32, width: 104, height: 30, rx: 9, class: "place" }),
    text(WIDTH / 2, high - 11, say("dealer"), "badge"),
  );
  for (let seat = 1; seat <= seats; seat += 1) {
    const view = state.seats.find((one) => one.seat === seat);
    const where = place(seat, seats, high);
    svg.append(view ? seatOf(where, view) : emptySeat(where, seat));
  }
  const lines = [
    ...state.seats.map((view) =>
      say("seat.label", {
        seat: view.seat,
        cards: view.cards,
        marks: view.marks.map((mark) => `, ${say(`mark.${mark}`)}`).join("") + (view.due ? say("seat.due") : ""),
      }),
    ),
    say("piles.label", { board: state.board, burns: state.burns, muck: state.muck }),
  ];
  while (spoken.children.length > lines.length) spoken.lastChild.remove();
  while (spoken.children.length < lines.length) spoken.append(document.createElement("li"));
  lines.forEach((line, n) => {
    if (spoken.children[n].textContent !== line) spoken.children[n].textContent = line;
  });
}
