// The line below the text that says where it is: saved, on its way, or in this window alone.
import { announce, form, words } from "./page.js";
import * as local from "./local_copy.js";

const line = document.getElementById("state");
const ago = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });
const STEPS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
let savedAt = words.savedAt ? Date.parse(words.savedAt) : null;
let shown = savedAt ? "saved" : "";

function since(moment) {
  const seconds = Math.max(0, Math.round((Date.now() - moment) / 1000));
  const [unit, length] = STEPS.find(([, step]) => seconds >= step) ?? ["second", 1];
  return ago.format(-Math.floor(seconds / length), unit);
}

function draw(said) {
  line.textContent = said;
}

// Said aloud only when it changes: nobody wants to hear the seconds counted.
function show(kind, said) {
  if (kind !== shown && kind !== "writing" && (kind !== "saved" || shown !== "writing")) announce(said);
  shown = kind;
  line.dataset.state = kind;
  draw(said);
}

export function saved() {
  savedAt = Date.now();
  show("saved", words.wordsSaved.replace("%s", since(savedAt)));
}

export const same = () => show("same", words.wordsSame);
export const writing = () => { if (shown in { "": 1, saved: 1, same: 1, writing: 1 }) show("writing", words.wordsWriting); };

export function trouble(kind, said) {
  const told = local.works ? said : `${said} ${words.wordsUnkept}`;
  show(kind, told);
  if (kind !== "signedOut") return;
  const link = document.createElement("a");
  Object.assign(link, { href: words.signIn, target: "_blank", rel: "opener", textContent: words.wordsSignIn });
  line.append(" ", link);
}

export const hasDraft = (has) => {
  for (const part of form.querySelectorAll("[data-of-draft]")) part.hidden = !has;
  for (const part of form.querySelectorAll("[data-of-published]")) part.hidden = has;
};

setInterval(() => { if (shown === "saved" && savedAt) draw(words.wordsSaved.replace("%s", since(savedAt))); }, 10000);
