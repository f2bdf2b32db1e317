// Small things of the routine pages: a form's button is pressed once (a second click while the
// first is on its way is the same request), and a long heartbeat shows its newest end.

for (const beat of document.querySelectorAll(".bigbeat")) beat.scrollLeft = beat.scrollWidth;

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
