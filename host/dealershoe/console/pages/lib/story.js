// What was said and done in a hand, as sentences in the language of the page. A rule pack's own words stay as they are.

import { placeIn, quoted, say, theirs } from "/static/lib/words.js";

const FLAGS = ["boxed", "double", "unread", "unseen", "foreign", "wrong_back", "up", "touched", "out_of_turn"];

/** Who or what something came from. What follows from a fact comes from the rules, whoever told the fact. */
export function fromWhom(one) {
  if (["finding", "ruling", "proposal", "signal"].includes(one.kind)) return say("origin.rules");
  return one.who ?? say(`origin.${one.origin}`);
}

function key(kind, values) {
  if (kind === "ReportBoxed" && !values.boxed) return "story.ReportBoxed.not";
  if (kind === "Act" && values.seat) return "story.Act.seat";
  if (kind === "Exposed" && !values.number) return "story.Exposed.last";
  if (kind === "FloorDecision" && values.seat) return "story.FloorDecision.seat";
  if (kind === "FloorCall" && values.taken_back) return "story.FloorCall.back";
  return `story.${kind}`;
}

function sentence(kind, values) {
  const told = say(key(kind, values), {
    ...values,
    seats: values.seats?.join(", "),
    place: "target" in values || "went" in values ? placeIn(values.target ?? values.went) : placeIn(null),
    act: values.kind ? say(`act.${values.kind}`) : "–",
    by: say(`story.by.${values.by ?? "dealer"}`),
    decision: values.decision ? say(`ruling.${values.decision}`) : "",
    signal: values.signal ? say(`signal.${values.signal}`) : "",
  });
  if (kind === "ReportBoxed") return told;
  const flags = FLAGS.filter((flag) => values[flag]).map((flag) => say(`flag.${flag}`));
  if (kind === "Draw" && values.exposed) flags.push(say("flag.exposed"));
  if (kind === "Draw" && !values.confirmed) flags.push(say("flag.inferred"));
  return flags.length ? `${told} (${flags.join(", ")})` : told;
}

/** The clause of a ruling, as nodes that follow its words: in its book's language. */
export const clauseOf = ({ cite, language }) => (cite ? [" ", quoted(`(${cite})`, language)] : []);

/** A line of the record (`story` of a hand with its `kinds`), as nodes to be put on the page. */
export function told(one, kinds) {
  const { kind, values } = one;
  const card = one.card ? [" ", quoted(one.card)] : [];
  if (kind === "ruling") return [`${say(`ruling.${values.ruling}`)}: `, theirs(values.say, kinds, values.language), ...clauseOf(values)];
  if (kind === "finding") {
    const where = [values.seat && say("story.at-seat", { seat: values.seat }), ...(values.cards ?? []).map((n) => `#${n}`)].filter(Boolean);
    return [theirs(values.happened, kinds), ...(where.length ? [` (${where.join(", ")})`] : [])];
  }
  const words = sentence(kind, values);
  return words.startsWith("story.") ? [quoted(one.text)] : [words, ...card]; // what this page has no words for
}

const SAID = [
  [/^act\b/, "act"],
  [/^betting complete/, "complete"],
  [/^betting over/, "over"],
  [/^exposed\b.*by=player/, "exposed-player"],
  [/^exposed\b/, "exposed-dealer"],
  [/^call floor/, "floor"],
  [/^undo/, "undo"],
  [/^hand next/, "next"],
  [/^(ack|shuffled)\b/, "ack"],
];

/** A line that somebody has just said, "act 3 raise  (api)", in the words of the keys where there is a key for it. */
export function lastSaid(text, origin) {
  const line = text.replace(/\s*\([^()]*\)$/, "");
  const named = SAID.find(([pattern]) => pattern.test(line));
  const from = say(`origin.${origin}`);
  return named ? [`${say("said")} ${say(`key.${named[1]}`)} (${from})`, ""] : [`${say("said")} (${from})`, line];
}
