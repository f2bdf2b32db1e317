// Tells the form the browser's time zone, for every field that asks for it.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("input[data-browser-zone]")) {
  if (zone && !field.value) field.value = zone;
}
for (const words of document.querySelectorAll("[data-zone-words]")) {
  if (zone) {
    words.textContent = `${zone.split("/").pop().replaceAll("_", " ")}, from this browser.`;
  }
}
