// Follows a live run: stays at the newest line unless the reader has scrolled up, then says how
// many lines are new.

let following = true;
let unseen = 0;

const atEnd = () => window.innerHeight + window.scrollY >= document.body.scrollHeight - 160;
const note = () => document.querySelector("[data-follow]");

function show() {
  const words = note();
  if (!words) return;
  words.textContent = unseen ? `${unseen} new line${unseen === 1 ? "" : "s"}` : "Following live";
}

window.addEventListener("scroll", () => {
  following = atEnd();
  if (following) unseen = 0;
  show();
}, { passive: true });

let before = document.querySelectorAll("#steps > li").length;
document.addEventListener("htmx:afterSettle", () => {
  const lines = document.querySelectorAll("#steps > li");
  const added = lines.length - before;
  before = lines.length;
  if (added <= 0 || !note()) return;
  if (following && unseen === 0 && lines.length > 6) {
    lines[lines.length - 1].scrollIntoView({ block: "nearest" });
  } else if (!following) {
    unseen += added;
  }
  show();
});
