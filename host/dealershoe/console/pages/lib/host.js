// The console's API, for its pages: who I am, what happens at the tables, and how to say something.

const AGAIN_MS = [150, 600]; // pauses before a line that did not get through is sent again
const SILENT_MS = 25000; // a stream says something every 10 s
const BACK_MS = 1000; // before a stream that was refused is tried again

let csrf = "";

function toLogin() {
  location.assign("/login");
  return new Promise(() => {}); // the page is left
}

async function asked(path, options) {
  const answer = await fetch(path, options);
  if (answer.status === 401) await toLogin();
  let body;
  try {
    body = await answer.json();
  } catch {
    body = { error: `${answer.status} ${answer.statusText}` };
  }
  return { status: answer.status, body };
}

/** GET `path`: its status and its JSON. Throws when the host cannot be reached; on to the log-in page for 401. */
export const get = (path) => asked(path);

/** POST JSON to `path`, as `get`. */
export const post = (path, body) =>
  asked(path, { method: "POST", headers: { "content-type": "application/json", "x-csrf": csrf }, body: JSON.stringify(body) });

/** Who has logged in; on to the log-in page when nobody has. */
export async function me() {
  const { body } = await get("/api/v1/me");
  csrf = body.csrf;
  return body;
}

/** The path of a table, or of something of it. */
export const tablePath = (table, rest = "") => `/api/v1/tables/${encodeURIComponent(table)}${rest}`;

/**
 * Say a line at a table. `more`: `seen`, the version that the person has seen, and `reason`. A line that did not get
 * through, or has no answer yet (503), is sent again under the same id, so that it is told once. Throws when the host
 * cannot be reached.
 */
export async function tell(table, line, more = {}) {
  const said = { id: crypto.randomUUID(), line, ...more };
  for (let again = 0; ; again += 1) {
    try {
      const answer = await post(tablePath(table, "/lines"), said);
      if (answer.status !== 503 || again === AGAIN_MS.length) return answer;
    } catch (error) {
      if (again === AGAIN_MS.length) throw error;
    }
    await new Promise((next) => setTimeout(next, AGAIN_MS[again]));
  }
}

export async function logOut() {
  await fetch("/logout", { method: "POST", headers: { "x-csrf": csrf } });
  location.assign("/login");
}

/** Why the host refuses a stream, "" if it does not; on to the log-in page for 401. */
async function refusal(url) {
  const stop = new AbortController();
  const answer = await fetch(url, { signal: stop.signal });
  if (answer.status === 401) await toLogin();
  const why = answer.ok ? "" : (await answer.json()).error;
  stop.abort();
  return why;
}

/**
 * Listen to a table, or to all with `table` null: `heard.state(state, first)`, `first` on a new connection;
 * `heard.happening(happening)`; `heard.up(bool, why, stopped)`, with the host's sentence where
 * it refuses, `stopped` where the console has said that it stops. A stream that is silent for too long is begun anew.
 */
export function listen(table, heard) {
  let source;
  let timer;
  let fresh = new Set();
  let stopped = false;
  let again; // a stream is about to be begun
  const down = (why = "") => heard.up(false, why, stopped);
  const soon = () => {
    source.close();
    clearTimeout(timer);
    clearTimeout(again);
    again = setTimeout(begin, BACK_MS);
  };
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      down();
      begin();
    }, SILENT_MS);
  };
  const begin = () => {
    source?.close();
    clearTimeout(again);
    source = new EventSource(table === null ? "/api/v1/events" : `/api/v1/events?table=${encodeURIComponent(table)}`);
    source.onopen = () => {
      fresh = new Set(); // the host may have begun anew, and its versions with it
      stopped = false;
      heard.up(true);
    };
    source.addEventListener("state", (event) => {
      alive();
      const state = JSON.parse(event.data);
      heard.state(state, !fresh.has(state.table));
      fresh.add(state.table);
    });
    source.addEventListener("happening", (event) => {
      alive();
      heard.happening(JSON.parse(event.data));
    });
    source.addEventListener("alive", alive);
    source.addEventListener("over", toLogin);
    source.addEventListener("stopped", () => {
      stopped = true;
      down();
      soon();
    });
    source.onerror = async () => {
      down();
      if (stopped) return soon();
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again itself
      const why = await refusal(source.url).catch(() => "");
      if (why) down(why);
      soon();
    };
    alive();
  };
  addEventListener("offline", () => {
    source.close(); // whatever might still come is not to be relied on
    clearTimeout(timer);
    clearTimeout(again);
    down();
  });
  addEventListener("online", begin);
  begin();
}
