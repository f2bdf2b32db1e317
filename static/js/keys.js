// Single keys on the routine pages: n new, r run it now, j and k along the rows, and g then r, m or
// f to go somewhere. Off in fields; a person can turn them off, and then this file isn't loaded.

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
  const names = { r: "Routines", m: "Machines", f: "Files" };
  return [...document.querySelectorAll(".nav a")].find((link) =>
    link.textContent.startsWith(names[key] ?? "\n"),
  );
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable], [popover]")) return;
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
  }
});
