// Small things of the routine pages: a form's button is pressed once (a second click while the
// first is on its way is the same request), and a long heartbeat shows its newest end.

// It is one stop of the Tab key; the arrow keys move along it.

function rove(beat) {
  const ticks = [...beat.querySelectorAll("a")];
  beat.scrollLeft = beat.scrollWidth;
  ticks.forEach((tick, place) => (tick.tabIndex = place === ticks.length - 1 ? 0 : -1));
  beat.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = step && ticks[ticks.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    for (const tick of ticks) tick.tabIndex = tick === next ? 0 : -1;
    next.focus();
  });
}
for (const beat of document.querySelectorAll(".bigbeat")) rove(beat);

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button || !button.dataset.once) return;
  if (button.form.dataset.sent) {
    event.preventDefault();
    return;
  }
  button.form.dataset.sent = "yes";
  button.lastChild.textContent = button.dataset.once;
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The list and the routine page keep themselves true: every 5 seconds while anything is live, else
// each minute, and only in a tab that is seen. A part that has the focus inside is left alone.
const refreshing = document.querySelector("[data-refresh]");

// Whether the reader has opened a fold or loaded older rows there: that isn't taken away.
function opened(old, fresh) {
  const rows = (part) => part.querySelectorAll("li.run").length;
  return old.querySelector("details[open]") !== null || rows(old) > rows(fresh) + 1;
}

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const same = (page) => [...page.querySelectorAll(".group li[id]")].map((row) => row.id).join();
  const parts = ["#hero", "#today", "#beats", "#hist", "#next"];
  if (same(fresh) === same(document)) {
    for (const row of document.querySelectorAll(".group li[id]")) parts.push(`#${row.id}`);
  } else if (!document.querySelector(".group :focus")) {
    for (const group of document.querySelectorAll(".group")) group.remove();
    document.querySelector("#today").after(...fresh.querySelectorAll(".group"));
  }
  const bells = fresh.querySelectorAll(".bell");
  document.querySelectorAll(".bell").forEach((bell, place) => {
    const now = bells[place];
    if (!now || bell === document.activeElement || bell.outerHTML === now.outerHTML) return;
    bell.replaceWith(now);
    window.htmx?.process(now);
  });
  for (const part of parts) {
    const old = document.querySelector(part);
    const now = fresh.querySelector(part);
    if (!old || !now || old.contains(document.activeElement) || opened(old, now)) continue;
    if (old.outerHTML === now.outerHTML) continue;
    old.replaceWith(now);
    window.htmx?.process(now);
    for (const beat of now.querySelectorAll(".bigbeat")) rove(beat);
  }
}

async function tick() {
  const wait = Number(document.querySelector("[data-refresh]").dataset.refresh);
  await new Promise((done) => setTimeout(done, wait * 1000));
  if (document.visibilityState === "visible" && navigator.onLine) {
    await refresh().catch(() => {}); // the next tick asks again; the page says when it is offline
  }
  tick();
}
if (refreshing) tick();
