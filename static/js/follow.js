// A run's page. While the run is live: it stays at the newest line unless the reader has scrolled
// up, then says how many lines are new; and it tells a screen reader what the run is at, at most
// every ten seconds. Stop asks again in a dialog; without script its link is a page that asks.

const SAY_EVERY = 10_000; // milliseconds
const KEY = "routines.aloud";

const page = () => document.querySelector("#run-page");
const lines = () => document.querySelectorAll("#steps > li");
const atEnd = () => {
  const log = document.querySelector(".log")?.getBoundingClientRect();
  return !log || log.bottom <= window.innerHeight + 160;
};

let following = true;
let unseen = 0;
let before = lines().length;

// What is new is one link to its first line, in place of "Following live".
function show() {
  const words = document.querySelector("[data-follow]");
  if (!words) return;
  if (!unseen) {
    words.textContent = following ? "Following live" : "Not following";
    document.querySelector(".newlines")?.remove();
    return;
  }
  const said = `${unseen} new line${unseen === 1 ? "" : "s"}`;
  words.textContent = said;
  let jump = document.querySelector(".newlines");
  if (!jump) {
    jump = document.createElement("button");
    jump.type = "button";
    jump.className = "btn newlines";
    jump.addEventListener("click", toEnd);
    page().append(jump);
  }
  jump.textContent = said;
}

function toEnd() {
  following = true;
  unseen = 0;
  const all = lines();
  all[all.length - 1]?.scrollIntoView({ block: "center" });
  show();
}

window.addEventListener("scroll", () => {
  following = atEnd();
  if (following) unseen = 0;
  show();
}, { passive: true });

const end = () => document.querySelector("#at-now > .step") ?? [...lines()].pop();
const endIsSeen = () => end()?.getBoundingClientRect().bottom <= window.innerHeight;
let endWasSeen = false;

// The step that is open grows too: with the text that comes in, or what its command prints. It's
// followed once it is in view: nobody is led away from what they opened the page on.
function grown() {
  const all = lines();
  const added = all.length - before;
  before = all.length;
  if (!page()?.hasAttribute("data-live")) return;
  if (!following) {
    unseen += Math.max(added, 0);
  } else if (endWasSeen || (added > 0 && all.length > 6)) {
    if (!endIsSeen()) end()?.scrollIntoView({ block: "end" });
  }
  show();
}

// What it is at, said by a status region that no swap replaces. The end is said too.
let said = document.querySelector("#now")?.dataset.say ?? "";
let saidAt = Date.now();
let waits = 0;

function sentence() {
  const now = document.querySelector("#now")?.dataset.say;
  return now ?? document.querySelector(".ending .say")?.textContent.trim() ?? "";
}

function announce() {
  waits = 0;
  const words = sentence();
  if (!words || words === said) return;
  const left = saidAt + SAY_EVERY - Date.now();
  if (left > 0) {
    waits = setTimeout(announce, left);
    return;
  }
  said = words;
  saidAt = Date.now();
  document.querySelector("#announce").textContent = words;
}

// "Read new lines aloud" makes the list of steps speak; it is off until somebody chooses it.
function aloud() {
  const box = document.querySelector("[data-aloud]");
  if (!box) return;
  box.closest("label").hidden = false;
  box.checked = localStorage.getItem(KEY) === "yes";
  const speak = () => {
    document.querySelector("#steps").setAttribute("aria-live", box.checked ? "polite" : "off");
    localStorage.setItem(KEY, box.checked ? "yes" : "no");
  };
  speak();
  box.addEventListener("change", speak);
}

// A tab that nobody sees asks for nothing: how it ended would be noted as read.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (document.hidden && event.detail.elt.id === "poll") event.preventDefault();
});

// The end replaces the page: whoever had the focus in it is led to how it ended.
let inside = false;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  endWasSeen = endIsSeen();
  inside = detail.target === page() && page().contains(document.activeElement);
});

document.addEventListener("htmx:afterSettle", () => {
  if (inside && !page().hasAttribute("data-live")) document.querySelector(".ending").focus();
  inside = false;
  grown();
  if (!waits) announce();
});

document.addEventListener("click", async (event) => {
  const opens = event.target.closest("[data-dialog]");
  if (opens) {
    event.preventDefault();
    document.getElementById(opens.dataset.dialog).showModal();
    return;
  }
  const copies = event.target.closest("[data-copy]");
  if (copies && navigator.clipboard) {
    event.preventDefault();
    const answer = await fetch(copies.href);
    if (!answer.ok) return window.location.assign(copies.href);
    await navigator.clipboard.writeText(await answer.text());
    copies.textContent = copies.dataset.copy;
  }
});

aloud();
