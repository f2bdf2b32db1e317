// The form's sentence is swapped whole while somebody may be writing in it. What has the focus
// stays itself, with its text, its selection and its half of a date: the rest is put around it. A
// new field in its place would hold what was there when the question was sent, and no selection
// from the first letter on, so that "12:00" typed over "9:00" became "12:009:00".

const WRITING = "textarea, input:not([type=checkbox], [type=radio])";
const asked = new WeakMap(); // for each request: what each field held when it was sent

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const fields = [...document.querySelectorAll("#sentence :is(input, select)")];
  asked.set(detail.xhr, new Map(fields.map((field) => [field, field.value])));
});

function twinOf(field, fresh) {
  if (field.id) return fresh.querySelector(`#${CSS.escape(field.id)}`);
  return [...fresh.querySelectorAll(`input[name="${CSS.escape(field.name)}"]`)].find(
    (each) => each.value === field.value,
  );
}

function around(mine, theirs) {
  const fresh = [...theirs.parentNode.childNodes];
  const at = fresh.indexOf(theirs);
  for (const old of [...mine.parentNode.childNodes]) {
    if (old !== mine) old.remove();
  }
  mine.before(...fresh.slice(0, at));
  mine.after(...fresh.slice(at + 1));
}

function dress(mine, theirs) {
  for (const name of mine.getAttributeNames()) {
    if (!theirs.hasAttribute(name)) mine.removeAttribute(name);
  }
  for (const { name, value } of theirs.attributes) {
    if (!["value", "type", "checked", "autofocus"].includes(name)) mine.setAttribute(name, value);
  }
}

// What was settled ("half past 8" is 8:30) takes the place of what was asked, of nothing newer.
function settle(field, twin, before) {
  if (field.type === "checkbox" || field.value !== before || field.value === twin.value) return;
  if (field.matches("select")) field.replaceChildren(...twin.childNodes);
  field.value = twin.value;
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "sentence" || !detail.shouldSwap) return;
  const field = document.activeElement;
  if (!field.matches("#sentence :is(input, select)")) return;
  const fresh = new DOMParser().parseFromString(detail.serverResponse, "text/html");
  const twin = twinOf(field, fresh);
  if (!twin) return; // the sentence has no such blank any more
  const before = asked.get(detail.xhr)?.get(field);
  let [mine, theirs] = [field, twin];
  while (mine.id !== "sentence") {
    const [outer, outerFresh] = [mine.parentNode, theirs.parentNode];
    around(mine, theirs);
    dress(mine, theirs);
    [mine, theirs] = [outer, outerFresh];
  }
  dress(mine, theirs);
  settle(field, twin, before);
  window.htmx.process(document.getElementById("sentence"));
  detail.swapOverride = "none"; // what lies outside of the sentence is still swapped by its ids
});

// A new blank asks for the focus, after a moment; whoever has gone on to write elsewhere keeps it.
document.addEventListener("htmx:afterSwap", () => {
  if (!document.activeElement.matches(WRITING)) return;
  document.querySelector("#sentence [autofocus]")?.removeAttribute("autofocus");
});
