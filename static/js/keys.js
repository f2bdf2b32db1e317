// Single keys, for whoever wants them: n new, r run it now, j and k through the rows, g and then
// r, m, a, f or p to go, ? for the list of them. They rest while one writes or holds a modifier.

const ROWS = "main h3 a, main .say a, main .ledger .name a";
let going = 0;

function writes(element) {
  return element.isContentEditable || element.closest("input, textarea, select, dialog[open]");
}

function open(link) {
  if (link) window.location.assign(link.href);
}

function move(step) {
  const rows = [...document.querySelectorAll(ROWS)];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
  rows[Math.min(Math.max(next, 0), rows.length - 1)].focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (writes(event.target)) return;
  const went = Date.now() - going < 1500;
  going = 0;
  if (went) {
    open(document.querySelector(`.nav a[data-go="${CSS.escape(event.key)}"]`));
    return;
  }
  switch (event.key) {
    case "g": going = Date.now(); break;
    case "n": open(document.querySelector(".tabbar .plus")); break;
    case "r": document.querySelector('main form[action$="/run/"] button:enabled')?.click(); break;
    case "j": move(1); break;
    case "k": move(-1); break;
    case "?": window.location.assign("/help/#keys"); break;
  }
});
