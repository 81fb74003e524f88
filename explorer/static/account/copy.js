/** Copy what a field of the account page holds: a button names it by `data-copy`. Without scripts there is none. */
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
