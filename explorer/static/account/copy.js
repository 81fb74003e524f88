/**
 * Copy the text of a field of the account page. `data-copy` of a button names the field. Without scripts, the page has
 * no such button.
 */
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!(button instanceof HTMLButtonElement)) continue;
  const field = document.getElementById(button.dataset.copy ?? "");
  if (!(field instanceof HTMLInputElement)) continue;
  button.hidden = false;
  field.addEventListener("focus", () => field.select());
  button.addEventListener("click", () => {
    const done = () => {
      button.textContent = "Copied";
    };
    const select = () => {
      field.focus();
      if (document.execCommand("copy")) done();
    };
    // A page over plain HTTP has no clipboard.
    if (navigator.clipboard) navigator.clipboard.writeText(field.value).then(done, select);
    else select();
  });
}
