// A toast says what was just done, for ten seconds; it stays while it is pointed at or holds the
// focus, and goes once its Undo was taken.

const STAYS = 10000;

function watch(toast) {
  let timer;
  const go = () => {
    timer = setTimeout(() => toast.remove(), STAYS);
  };
  for (const name of ["mouseenter", "focusin"]) {
    toast.addEventListener(name, () => clearTimeout(timer));
  }
  for (const name of ["mouseleave", "focusout"]) toast.addEventListener(name, go);
  toast.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) toast.remove();
  });
  go();
}

const seen = new WeakSet();
function look() {
  for (const toast of document.querySelectorAll(".toast")) {
    if (seen.has(toast)) continue;
    seen.add(toast);
    watch(toast);
  }
}
look();
new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
