// Single keys, for whoever wants them: n new, r run it now, j and k through the rows, g and then
// r, m, a, f, p or b (the bell) to go, ? for the list of them. They rest while one writes or holds a modifier.

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
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (writes(event.target)) return;
  const went = Date.now() - going < 1500;
  going = 0;
  if (went) {
    open(document.querySelector(`a[data-go="${CSS.escape(event.key)}"]`));
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
