// The console's API, for its pages: who I am, what happens at the tables, and how to say something.

let csrf = "";

/** Who has logged in; on to the log-in page when nobody has. */
export async function me() {
  const answer = await fetch("/api/v1/me");
  if (answer.status === 401) {
    location.assign("/login");
    await new Promise(() => {});
  }
  const mine = await answer.json();
  csrf = mine.csrf;
  return mine;
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf": csrf },
    body: JSON.stringify(body),
  });
  if (answer.status === 401) location.assign("/login");
  return { status: answer.status, body: answer.status === 204 ? {} : await answer.json() };
}

/** Say a line at a table. One that did not get through is sent again under the same id, so that it is told once. */
export async function tell(table, line, seen) {
  const said = { id: crypto.randomUUID(), line, ...(seen === undefined ? {} : { seen }) };
  for (let again = 0; ; again += 1) {
    try {
      return await post(`/api/v1/tables/${encodeURIComponent(table)}/lines`, said);
    } catch (error) {
      if (again === 2) throw error;
    }
  }
}

export const send = post;

export async function get(path) {
  const answer = await fetch(path);
  if (answer.status === 401) location.assign("/login");
  return { status: answer.status, body: await answer.json() };
}

export async function logOut() {
  await fetch("/logout", { method: "POST", headers: { "x-csrf": csrf } });
  location.assign("/login");
}

const SILENT_MS = 25000; // a stream says something every 10 s

/** Listen to tables. `heard.state`, `heard.happening`, `heard.up(bool)`. A stream that is silent is begun anew. */
export function listen(table, heard) {
  let source;
  let timer;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(begin, SILENT_MS);
  };
  const begin = () => {
    source?.close();
    source = new EventSource(table ? `/api/v1/events?table=${encodeURIComponent(table)}` : "/api/v1/events");
    source.addEventListener("state", (event) => {
      alive();
      heard.up(true);
      heard.state(JSON.parse(event.data));
    });
    source.addEventListener("happening", (event) => {
      alive();
      heard.happening?.(JSON.parse(event.data));
    });
    source.addEventListener("alive", alive);
    source.onerror = () => {
      heard.up(false);
      if (source.readyState === EventSource.CLOSED) setTimeout(begin, 2000);
    };
    alive();
  };
  begin();
}
