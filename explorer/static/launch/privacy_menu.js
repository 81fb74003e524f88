/** The menu of the launch panel that says who may see the results: everybody, who has the link, or the account. */
import { account } from "../core/host.js";
import { ACCOUNT, PRIVACY_KEY, freshKey } from "../core/privacy.js";
import { html, nothing, render } from "../core/template.js";
import { keep } from "../core/storage.js";
import { store } from "../core/store.js";
import { adjust } from "./edit.js";
import { privacyOf } from "./privacy_words.js";

/** The choices, as the browser remembers them. */
const CHOICES = [
  {
    choice: "",
    more: "Who has the link sees it, and the same source gives everyone the same link. Nobody can list it.",
  },
  {
    choice: "on",
    more: "Only who has the link sees it. The same source gives others another link. Nobody can list or guess it.",
  },
];

/** @param {HTMLElement} popover */
export function draw(popover) {
  const now = privacyOf(store.state.draft.private);
  const all = account
    ? [...CHOICES, { choice: ACCOUNT, more: `Only you, signed in as ${account}.` }]
    : CHOICES;
  const entries = all.map(({ choice, more }) => {
    const title = privacyOf(freshKey(choice));
    const choose = () => {
      keep(PRIVACY_KEY, choice || null);
      popover.hidePopover();
      if (title !== now) adjust({ private: freshKey(choice) });
    };
    return html`<button
      type="button"
      class="entry"
      role="radio"
      aria-checked=${String(title === now)}
      @click=${choose}
      ><span>${title}<small>${more}</small></span></button
    >`;
  });
  render(
    html`<div role="radiogroup" aria-label="Who may see the results">${entries}</div>
      ${account ? nothing : signIn()}`,
    popover,
  );
}

/** How to keep results for oneself, where one can sign in. */
function signIn() {
  const link = document.querySelector("a.sign-in");
  if (!link) return nothing;
  return html`<hr /><a class="entry" href=${link.getAttribute("href")}
      ><span>Sign in<small>to keep results for your account alone</small></span></a
    >`;
}
