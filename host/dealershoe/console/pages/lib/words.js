// The words of a page in the language of whoever reads it: plain JSON files in words/, one a language.

export const LANGUAGES = ["en", "de", "es"];
const KEPT = "dealershoe.language";

let words = {};
let spare = {};

/** The language chosen here before, else the browser's, else English. */
export function chosen() {
  const kept = localStorage.getItem(KEPT);
  const asked = [kept, ...navigator.languages.map((tag) => tag.split("-")[0])];
  return asked.find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

/** Load a language and put its words wherever an element has `data-say`. */
export async function speak(language) {
  localStorage.setItem(KEPT, language);
  const load = async (tag) => (await fetch(`/static/words/${tag}.json`)).json();
  [words, spare] = await Promise.all([load(language), load("en")]);
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
}

/** The words of a key, with `{name}` filled in. A key that no language has is shown as it is. */
export function say(key, values = {}) {
  const text = words[key] ?? spare[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** A select of the languages, in their own names. */
export async function languageChoice(select, changed) {
  for (const tag of LANGUAGES) {
    const file = await (await fetch(`/static/words/${tag}.json`)).json();
    select.append(new Option(file.language, tag, false, tag === chosen()));
  }
  select.addEventListener("change", async () => {
    await speak(select.value);
    changed();
  });
}
