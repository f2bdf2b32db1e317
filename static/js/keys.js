// Single keys: n new, r run it now, j and k along the rows, g and then r, m, a, f, p or b (the bell)
// to go somewhere, ? for the list of them. Off in fields and dialogs; a person can turn them off, and
// then this file isn't loaded.

let going = false;

const rows = () => [...document.querySelectorAll(".row h3 a, .run .say a")].filter(
  (link) => link.checkVisibility?.() ?? true,
);

function along(step) {
  const links = rows();
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step];
  next?.focus();
}

function place(key) {
  return document.querySelector(`a[data-go="${CSS.escape(key)}"]`);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable], [popover], dialog[open]")) return;
  if (going) {
    going = false;
    place(event.key)?.click();
    return;
  }
  switch (event.key) {
    case "n":
      document.querySelector('a.btn[href$="/routines/new/"]')?.click();
      break;
    case "r":
      document.querySelector('.title form[action$="/run/"] button')?.click();
      break;
    case "j":
      along(1);
      break;
    case "k":
      along(-1);
      break;
    case "g":
      going = true;
      break;
    case "?":
      window.location.assign("/help/#keys");
      break;
  }
});
