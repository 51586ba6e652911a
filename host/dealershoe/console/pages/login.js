// The log-in page. A link with the token behind `#`, which no server and no log sees, fills the form in.

import { chosen, languageChoice, speak } from "/static/lib/words.js";

const token = location.hash.slice(1);
if (token) {
  history.replaceState(null, "", "/login");
  document.getElementById("token").value = token;
}
await speak(chosen());
languageChoice(document.getElementById("language"), () => {});
