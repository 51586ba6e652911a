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
export function quoted(text) {
  const made = document.createElement("span");
  made.lang = HOST;
  made.textContent = text;
  return made;
}

/** Put words into an element, and the host's own sentence behind them. Nothing is touched when nothing changes. */
export function sayIn(element, text, theirs = "") {
  if (element.dataset.said === `${text}|${theirs}`) return;
  element.dataset.said = `${text}|${theirs}`;
  element.replaceChildren(text, ...(text && theirs ? [" "] : []), ...(theirs ? [quoted(theirs)] : []));
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
