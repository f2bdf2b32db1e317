// What every page needs beyond HTML: focus on a form's errors, a sentence where a request failed,
// and a bar while there is no connection.

const summary = document.querySelector(".errsum[tabindex]");
if (summary) summary.focus();

// A request that failed is said beside what was pressed, with a way to try it again. What the
// server sent with it is never shown: it may be anything.
const NOT_SAID = "That didn’t reach us. Nothing was changed.";
const OURS = "Something broke on our side.";
const SAID = {
  400: "That couldn’t be read. Load the page again, and send it once more.",
  413: "That is more than may be sent at once.",
  429: "That was asked too often. Wait a minute.",
};

function say(element, sentence, again) {
  const old = element.parentElement?.querySelector(":scope > .asked-in-vain");
  if (old) old.remove();
  if (!sentence || !element.isConnected) return;
  const words = document.createElement("span");
  words.className = "err asked-in-vain";
  words.setAttribute("role", "alert");
  words.textContent = sentence;
  if (again) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = "Try again";
    button.addEventListener("click", again);
    words.append(" ", button);
  }
  element.insertAdjacentElement("afterend", words);
}

function repeat({ elt, requestConfig }) {
  const kind = requestConfig?.triggeringEvent?.type ?? "click";
  return () => {
    say(elt, "");
    if (kind === "submit") elt.requestSubmit();
    else window.htmx.trigger(elt, kind.startsWith("key") ? "change" : kind);
  };
}

// What asks by itself (every second, every minute) says nothing beside itself: the bar does.
const asksByItself = (element) => element.closest("[data-poll]") !== null;

document.addEventListener("htmx:responseError", ({ detail }) => {
  const code = detail.xhr.status;
  if (code === 401) return; // htmx goes to the sign-in that its answer names
  if (asksByItself(detail.elt)) return tell("Not answering.");
  say(detail.elt, SAID[code] ?? OURS, code === 400 || code === 413 ? null : repeat(detail));
});
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, ({ detail }) => {
    if (asksByItself(detail.elt)) tell("Not connected.");
    else say(detail.elt, NOT_SAID, repeat(detail));
  });
}
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (!asksByItself(detail.elt)) say(detail.elt, "");
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful || !asksByItself(detail.elt)) return;
  shown = time();
  connection();
});

// The bar: what is on the page is as old as its last answer.
const bar = document.querySelector(".offline");
const time = () => new Date().toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
let shown = time();

function tell(what) {
  const words = what ? `${what} Showing ${shown}.` : "";
  if (bar.textContent === words) return;
  bar.hidden = !what;
  bar.textContent = words;
}

function connection() {
  tell(navigator.onLine ? "" : "Not connected.");
}
// A page that asks by a script of its own says how that went.
document.addEventListener("answered", ({ detail }) => {
  if (!detail.ok) return navigator.onLine && tell("Not answering.");
  shown = time();
  return connection();
});
window.addEventListener("online", connection);
window.addEventListener("offline", connection);
connection();
