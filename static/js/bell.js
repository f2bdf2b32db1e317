// The bell opens as a panel over the page, which then rests; without script its link is a page.
// Escape, the cross and a press beside it close it, and the focus goes back to the bell.

const panel = document.querySelector("#bell-panel");

// A link that is asked for in another tab stays a link.
document.addEventListener("click", (event) => {
  const another = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (another && event.target.closest(".bell")) event.stopImmediatePropagation();
}, { capture: true });

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== panel) return;
  if (!panel.open) {
    panel.showModal();
    panel.scrollTop = 0;
  }
  const next = panel.querySelector("#bell-undo") ?? panel.querySelector("#bp");
  if (!panel.contains(document.activeElement) || document.activeElement === panel) next.focus();
});

panel.addEventListener("click", (event) => {
  if (event.target === panel) panel.close();
});
panel.addEventListener("close", () => {
  if (document.activeElement && document.activeElement !== document.body) return;
  const bells = [...document.querySelectorAll(".bell")];
  bells.find((bell) => bell.checkVisibility?.() ?? true)?.focus();
});
