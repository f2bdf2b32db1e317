// Single keys, for whoever wants them: n new, r run it now, u undo, j and k through the rows, g and then
// r, m, a, f, p or b (the bell) to go, / to what narrows the page, ? for the list of them. They
// rest while one writes, holds a modifier or has a dialog open.

const ROWS = "main h3 a, main .say a, main .ledger .name a";
const RUN = ":is(.title, .ending) form[action$='/run/'] button:enabled"; // the page's own, no row's
let going = 0;

function rests(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (document.querySelector("dialog[open], [popover]:popover-open")) return true;
  return event.target.isContentEditable || event.target.closest("input, textarea, select");
}

function open(link) {
  if (link) window.location.assign(link.href);
}

function move(step) {
  const rows = [...document.querySelectorAll(ROWS)].filter(
    (link) => link.checkVisibility?.() ?? true,
  );
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
  rows[Math.min(Math.max(next, 0), rows.length - 1)].focus();
}

// To the filter: a field, or a fold whose first choice is next.
function narrow(event) {
  const filter = document.querySelector("main .filter, main input[type=search]");
  if (!filter) return;
  event.preventDefault();
  if (filter.matches("details")) filter.open = true;
  (filter.querySelector("a, input, select") ?? filter).focus();
}

document.addEventListener("keydown", (event) => {
  if (rests(event)) return;
  const went = Date.now() - going < 1500;
  going = 0;
  if (went) {
    open(document.querySelector(`a[data-go="${CSS.escape(event.key)}"]`));
    return;
  }
  switch (event.key) {
    case "g": going = Date.now(); break;
    case "n": open(document.querySelector(".tabbar .plus")); break;
    case "r": document.querySelector(RUN)?.click(); break;
    case "j": move(1); break;
    case "k": move(-1); break;
    case "u": document.querySelector(".toast:last-child form button")?.click(); break;
    case "/": narrow(event); break;
    case "?": window.location.assign("/help/#keys"); break;
  }
});
