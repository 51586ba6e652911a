// The log-in page. A link with the token behind `#`, which no server and no log sees, fills the form in.

import { chosen, speak } from "/static/lib/words.js";

await speak(chosen());
const token = location.hash.slice(1);
if (token) {
  history.replaceState(null, "", "/login");
  document.getElementById("token").value = token;
}
