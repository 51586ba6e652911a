// The table as an oval, seen from the dealer, who sits below: seat 1 at the dealer's left hand, then clockwise.

import { say } from "/static/lib/words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;
const HEIGHT = 400;
const FEWEST = 9; // places of an ordinary table; a higher seat makes room for itself

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

function place(seat, seats) {
  const angle = ((118 + ((seat - 0.5) / seats) * 304) * Math.PI) / 180;
  return [WIDTH / 2 + 262 * Math.cos(angle), HEIGHT / 2 - 8 + 150 * Math.sin(angle)];
}

function cards(x, y, count, faces) {
  if (faces.length) return [text(x, y + 6, faces.join(" "), "faces")];
  const wide = 9;
  const first = x - (count * (wide + 3) - 3) / 2;
  return Array.from({ length: count }, (_, n) => element("rect", { x: first + n * (wide + 3), y: y - 7, width: wide, height: 13, rx: 1.5, class: "back" }));
}

function seatOf(view, seats) {
  const [x, y] = place(view.seat, seats);
  const marks = view.marks.map((mark) => say(`mark.${mark}`));
  const label = say("seat.label", {
    seat: view.seat,
    cards: view.cards,
    marks: marks.map((mark) => `, ${mark}`).join(""),
    due: view.due ? say("seat.due") : "",
  });
  const classes = ["seat", view.due && "due", ...view.marks.map((mark) => mark.replace(" ", "-"))].filter(Boolean).join(" ");
  const group = element("g", { class: classes, role: "listitem", "aria-label": label });
  group.append(element("rect", { x: x - 42, y: y - 32, width: 84, height: 62, rx: 14, class: "place" }));
  group.append(text(x, y - 6, String(view.seat), "number"));
  group.append(...cards(x, y + 13, view.cards, view.faces));
  const badges = view.marks.map((mark) => say(`short.${mark}`)).join(" ");
  if (badges) group.append(text(x, y + 46, badges, "badge"));
  if (view.due) group.append(element("path", { d: `M${x - 10} ${y - 54} h20 l-10 14 z`, class: "arrow" }));
  return group;
}

/** Draw a state into `svg`. */
export function draw(svg, state) {
  const seats = Math.max(FEWEST, ...state.seats.map((view) => view.seat));
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  const middle = [
    element("ellipse", { cx: WIDTH / 2, cy: HEIGHT / 2 - 8, rx: 206, ry: 104, class: "cloth" }),
    text(WIDTH / 2, HEIGHT / 2 - 66, state.hand ? say(`street.${state.street}`) : "", "street"),
    ...cards(WIDTH / 2, HEIGHT / 2 - 34, state.board, state.board_faces),
    text(WIDTH / 2, HEIGHT / 2 + 8, say(`due.${state.due.kind}`, { seat: state.due.seat }), `due-text ${state.due.kind}`),
    text(WIDTH / 2, HEIGHT / 2 + 44, [say("board", { n: state.board }), say("burns", { n: state.burns }), say("muck", { n: state.muck })].join("  ·  "), "counts"),
    element("rect", { x: WIDTH / 2 - 46, y: HEIGHT - 30, width: 92, height: 26, rx: 8, class: "dealer" }),
    text(WIDTH / 2, HEIGHT - 12, "DEALER", "badge"),
  ];
  svg.replaceChildren(...middle, ...state.seats.map((view) => seatOf(view, seats)));
}
