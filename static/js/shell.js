// What every page needs beyond HTML: focus on a form's errors, a sentence where a request failed,
// and a bar when the browser is offline.

const summary = document.querySelector(".errsum");
if (summary) summary.focus();

const NOT_SAID = "That didn’t reach us. Nothing was changed.";
const OURS = "Something broke on our side. Try it again in a moment.";
const TOO_FAST = "That was asked too often. Wait a minute, then try again.";

function say(element, sentence) {
  const old = element.parentElement?.querySelector(":scope > .asked-in-vain");
  if (old) old.remove();
  if (!sentence) return;
  const words = document.createElement("span");
  words.className = "err asked-in-vain";
  words.setAttribute("role", "alert");
  words.textContent = sentence;
  element.insertAdjacentElement("afterend", words);
}

document.addEventListener("htmx:responseError", (event) => {
  say(event.detail.elt, event.detail.xhr.status === 429 ? TOO_FAST : OURS);
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => say(event.detail.elt, NOT_SAID));
}
document.addEventListener("htmx:beforeRequest", (event) => say(event.detail.elt, ""));

const bar = document.querySelector(".offline");
const loaded = new Date().toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
function connection() {
  bar.hidden = navigator.onLine;
  bar.textContent = navigator.onLine ? "" : `Not connected. Showing ${loaded}.`;
}
window.addEventListener("online", connection);
window.addEventListener("offline", connection);
