// The words of a page in the language of whoever reads it: plain JSON files in words/, one a language.

export const LANGUAGES = ["en", "de", "es"];
const HOST = "en"; // the language of rule packs and of what the host says
const KEPT = "dealershoe.language";

let words = {};
let names = [];

/** The language chosen here before, else the browser's, else English. */
export function chosen() {
  const kept = localStorage.getItem(KEPT);
  const asked = [kept, ...navigator.languages.map((tag) => tag.split("-")[0])];
  return asked.find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

/** Load a language and put its words wherever an element has `data-say` or `data-label`. */
export async function speak(language) {
  const files = await Promise.all(LANGUAGES.map(async (tag) => (await fetch(`/static/words/${tag}.json`)).json()));
  names = files.map((file) => file.language);
  words = files[LANGUAGES.indexOf(language)];
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
}

/** The words of a key, with `{name}` filled in. All languages have the same keys: a test holds them together. */
export function say(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** A sentence of the host or of a rule pack, marked as what language it is in. */
export function quoted(text, language = HOST) {
  const made = document.createElement("span");
  made.lang = language;
  made.textContent = text;
  return made;
}

/** Where a card lies: a seat, or a pile by its name. */
export function placeIn(place) {
  const seat = /^(?:seat )?(\d+)$/.exec(String(place ?? ""));
  if (seat) return say("place.seat", { seat: seat[1] });
  return words[`place.${place ?? "unknown"}`] ?? String(place);
}

const FILL = {
  place: placeIn,
  due: (due) => words[`due.${due}`] ?? placeIn(due),
  street: (street) => say(`street.${street}`),
  decision: (decision) => say(`ruling.${decision.replace(" ", "-")}`),
  blind: (blind) => say(blind === "small blind" ? "start.sb" : "start.bb"),
  detail: (text) => quoted(text), // what a system or a port says of itself
  fault: (text) => quoted(text),
};

function told({ kind, values }) {
  const parts = (words[kind] ?? kind).split(/\{(\w+)\}/); // words, name, words, …
  return parts.flatMap((part, n) => {
    if (n % 2 === 0) return part ? [part] : [];
    const value = values[part];
    return typeof value === "object" ? told(value) : [(FILL[part] ?? String)(value)];
  });
}

/** A sentence of the host in the language of the page, where `kinds` says what it is; else as it is, and marked so. */
export function theirs(text, kinds = {}, language = HOST) {
  if (!kinds[text] || document.documentElement.lang === HOST) return quoted(text, language);
  const made = document.createElement("span");
  made.append(...told(kinds[text]));
  return made;
}

/** Put words into an element, and the host's own sentences behind them. Nothing is touched when nothing changes. */
export function sayIn(element, text, sentences = [], kinds = {}, language = HOST) {
  const whole = [sentences].flat().filter(Boolean);
  const key = `${document.documentElement.lang}|${text}|${whole.join("; ")}`;
  if (element.dataset.said === key) return;
  element.dataset.said = key;
  const nodes = whole.flatMap((one, n) => [...(n ? ["; "] : text ? [" "] : []), theirs(one, kinds, language)]);
  element.replaceChildren(text, ...nodes);
}

/** Put what `parts` of the page say into an element too, for a screen reader: each in the language that it is marked as. */
export function sayAgain(element, parts, before = "") {
  const said = document.createElement("p");
  said.append(before, ...parts.flatMap((part, n) => [n ? ". " : "", ...part.cloneNode(true).childNodes]));
  if (element.innerHTML !== said.innerHTML) element.replaceChildren(...said.childNodes);
}

/** A select of the languages, in their own names. */
export function languageChoice(select, changed) {
  LANGUAGES.forEach((tag, index) => {
    const option = new Option(names[index], tag, false, tag === document.documentElement.lang);
    option.lang = tag;
    select.append(option);
  });
  select.addEventListener("change", async () => {
    localStorage.setItem(KEPT, select.value);
    await speak(select.value);
    changed();
  });
}
