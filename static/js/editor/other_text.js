// A second text of the same person: from another window, or kept by the browser. Both stay until one is chosen.
import { announce, form, replaceText, text } from "./page.js";
import * as local from "./local_copy.js";

const panel = document.getElementById("other-text");
const title = panel.querySelector("h2");
const shown = panel.querySelector("[data-other]");
let other = null;
let fromAWindow = false;
let decided = () => {};

function draw() {
  panel.hidden = other === null;
  shown.textContent = other?.text ?? "";
  local.keepOther(other);
}

// The draft is the other window's until it is decided which text to go on with. What the browser kept can wait.
export const holds = () => other !== null && fromAWindow;

export function offer(kind, found, then) {
  [other, decided, fromAWindow] = [found, then, kind === "window"];
  title.textContent = kind === "window" ? title.dataset.wordsWindow : title.dataset.wordsLocal;
  draw();
  announce(title.textContent);
}

panel.querySelector("[data-swap]").addEventListener("click", () => {
  const mine = { text: text.value, version: form.elements.version.value };
  const theirs = other;
  other = mine;
  draw();
  form.elements.version.value = theirs.version;
  replaceText(theirs.text);
});
panel.querySelector("[data-dismiss]").addEventListener("click", () => {
  other = null;
  draw();
  text.focus();
  decided();
});
