// The log-in page. A link with the token behind `#`, which no server and no log sees, fills the form in.

import { chosen, languageChoice, say, sayIn, speak } from "/static/lib/words.js";

const field = document.getElementById("token");
const wrong = document.getElementById("wrong");

const token = location.hash.slice(1);
if (token) {
  history.replaceState(null, "", "/login");
  field.value = token;
}
await speak(chosen());
languageChoice(document.getElementById("language"), () => {});

document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = new URLSearchParams({ token: field.value });
  try {
    const answer = await fetch("/login", { method: "POST", body, redirect: "manual" }); // the page it leads to is loaded whole
    if (answer.type === "opaqueredirect") return location.assign("/");
    if (answer.status === 401) sayIn(wrong, say("login.wrong"));
    else if (answer.status === 429) sayIn(wrong, say("login.wait"));
    else sayIn(wrong, say("login.refused"), (await answer.json()).error);
  } catch {
    sayIn(wrong, say("login.lost"));
  }
  field.select();
});
