// What is chosen in a form's select is sent at once; without script its button sends it.

for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.querySelector("[data-without-script]").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
