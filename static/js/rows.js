// Small things of the routine pages: a form's button is pressed once (a second click while the
// first is on its way is the same request), and a long heartbeat shows its newest end.

// It is one stop of the Tab key; the arrow keys, Home and End move along it.
export function rove(beat) {
  const ticks = [...beat.querySelectorAll("a")];
  beat.scrollLeft = beat.scrollWidth;
  ticks.forEach((tick, place) => (tick.tabIndex = place === ticks.length - 1 ? 0 : -1));
  beat.addEventListener("keydown", (event) => {
    const at = ticks.indexOf(document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: ticks.length - 1 };
    const next = ticks[to[event.key]];
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

// The sentence shows what it says as it changes, so Enter in a field has no page to load: beside a
// button of the field's own it presses that one.
document.addEventListener("submit", (event) => {
  if (event.submitter?.value !== "preview") return;
  event.preventDefault();
  const own = document.activeElement.closest(".field")?.querySelector("button[name=then]");
  setTimeout(() => own?.click()); // a form submits nothing while it is being submitted
});

// What is said of a blank while one types, shown at the blank too.
document.addEventListener("htmx:oobAfterSwap", (event) => {
  if (event.detail.target.id !== "wrong-sentence") return;
  for (const blank of document.querySelectorAll("#sentence .blank")) {
    const field = blank.querySelector("input, select");
    const bad = document.getElementById(`${field.id}-e`);
    blank.toggleAttribute("data-err", Boolean(bad));
    if (bad) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    if (bad) field.setAttribute("aria-describedby", bad.id);
    else if (field.getAttribute("aria-describedby") !== "cron-h") {
      field.removeAttribute("aria-describedby");
    }
  }
});

// A switch moves at once, and back when it couldn't.
const flip = (form) => {
  const knob = form.querySelector?.(":scope > .switch");
  knob?.setAttribute("aria-checked", knob.ariaChecked === "true" ? "false" : "true");
};
document.addEventListener("htmx:beforeRequest", (event) => flip(event.detail.elt));
document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) flip(event.detail.elt);
});
