// A role is changed by choosing it, and a link is copied by a button; both work by hand without.

for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.querySelector("[data-without-script]").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).value);
    button.textContent = "Copied";
  });
}
