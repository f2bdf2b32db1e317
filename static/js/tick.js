// A page keeps itself true: it asks again, every 5 seconds while anything is live and else each
// minute (the answer says which), only in a tab that is seen. Parts are swapped by their ids, rows
// by theirs, and never one that has the focus inside.

import { rove } from "./rows.js";

let etag = "";
let wait = 5;
let asked = Date.now();

// What differs from one rendering to the next without meaning anything.
const plain = (part) => part.outerHTML
  .replace(/(name="(?:csrfmiddlewaretoken|key)" value=")[^"]*/g, "$1")
  .replace(/ tabindex="-?\d"| open=""/g, "");

const held = (part, mine) => !mine && part.contains(document.activeElement);
const rowsOf = (part) => [...part.querySelectorAll("[data-row]")];
const named = (rows) => rows.map((row) => row.id).join();
const runsIn = (row) => row.querySelectorAll("li.run").length;

function replace(old, now) {
  for (const fold of old.querySelectorAll("details[open][id]")) {
    now.querySelector(`#${CSS.escape(fold.id)}`)?.setAttribute("open", "");
  }
  old.replaceWith(now);
  window.htmx?.process(now);
  for (const beat of now.querySelectorAll(".bigbeat")) rove(beat);
}

// Swaps what differs; false when something was left because the reader is in it.
function freshen(old, now, mine) {
  if (plain(old) === plain(now)) return true;
  if (held(old, mine)) return false;
  replace(old, now);
  return true;
}

// A day of which older runs were loaded keeps them: only the runs in it are swapped.
function freshenRow(old, now, mine) {
  if (runsIn(old) <= runsIn(now)) return freshen(old, now, mine);
  let all = true;
  for (const run of now.querySelectorAll("li.run")) {
    const before = old.querySelector(`#${CSS.escape(run.id)}`);
    if (before && !freshen(before, run, mine)) all = false;
  }
  return all;
}

function freshenRows(part, now, mine) {
  const before = rowsOf(part);
  const after = rowsOf(now);
  const grows = "grows" in part.dataset && before.length > 0;
  const moved = !grows && named(before) !== named(after);
  if (moved && !mine && !held(part)) return freshen(part, now);
  let all = !moved; // rows change their places once nobody is among them
  const added = [];
  for (const row of after) {
    const old = part.querySelector(`#${CSS.escape(row.id)}`);
    if (!old) {
      if (grows) added.push(row);
    } else if (!freshenRow(old, row, mine)) all = false;
  }
  for (const row of added.reverse()) {
    part.prepend(row);
    window.htmx?.process(row);
  }
  return all;
}

function swap(fresh, mine) {
  let all = true;
  for (const now of fresh.querySelectorAll("[data-part]")) {
    const old = document.getElementById(now.id);
    if (!old) continue;
    const done = "rows" in old.dataset ? freshenRows(old, now, mine) : freshen(old, now, mine);
    if (!done) all = false;
  }
  return all;
}

const answered = (ok) => {
  document.dispatchEvent(new CustomEvent("answered", { detail: { ok } }));
};

async function ask(mine = false) {
  asked = Date.now();
  const headers = { "HX-Request": "true", "HX-Trigger": "tick" };
  if (etag && !mine) headers["If-None-Match"] = etag;
  const answer = await fetch(location.href, { headers, cache: "no-store" });
  answered(answer.status < 500);
  wait = Number(answer.headers.get("X-Tick")) || 60;
  if (answer.status !== 200 || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focused = mine ? document.activeElement?.id : "";
  etag = swap(fresh, mine) ? answer.headers.get("ETag") ?? "" : "";
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

const seen = () => document.visibilityState === "visible" && navigator.onLine;
const due = () => Date.now() - asked >= wait * 1000;

async function tick() {
  if (seen() && due()) await ask().catch(() => answered(false));
  setTimeout(tick, 1000);
}
setTimeout(tick, 1000);
document.addEventListener("visibilitychange", () => {
  wait = Math.min(wait, 5); // whoever comes back to the tab doesn't wait a minute
});
document.addEventListener("refresh", () => ask(true).catch(() => answered(false)));
