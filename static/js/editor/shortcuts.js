// Keyboard shortcuts, and the list of them. They can be switched off, which this browser remembers.
import { form, text } from "./page.js";
import { save } from "./saving.js";

const OFF = "dossier:shortcuts-off";
const list = document.getElementById("shortcuts");
const used = list.querySelector("[data-shortcuts-used]");
const on_a_mac = /Mac|iPhone|iPad/.test(navigator.platform);

function remembered() {
  try { return localStorage.getItem(OFF) !== null; } catch { return false; }
}
function remember(off) {
  try { if (off) localStorage.setItem(OFF, "1"); else localStorage.removeItem(OFF); } catch { /* For this page alone, then. */ }
}

used.checked = !remembered();
used.addEventListener("change", () => remember(!used.checked));
document.querySelector("[data-shortcuts-open]").addEventListener("click", () => list.showModal());
if (on_a_mac) {
  for (const key of list.querySelectorAll("kbd")) if (key.textContent === "Ctrl") key.textContent = "⌘";
  for (const part of form.querySelectorAll("[title]")) part.title = part.title.replace("Ctrl+", "⌘");
}

const by_key = (key) => form.querySelector(`[data-keys="${key}"]`);
function deedOf(event) {
  const key = event.key.toLowerCase();
  if (event.shiftKey) return key === "p" && (() => form.querySelector("[data-preview]").click());
  if (key === "s") return save;
  if (key === "enter") return () => form.requestSubmit(form.querySelector('[value="review"]'));
  return document.activeElement === text && by_key(key) && (() => by_key(key).click());
}

const is_field = (part) => part?.closest("input, textarea, select, [contenteditable=true]");
document.addEventListener("keydown", (event) => {
  if (!used.checked || list.open) return;
  if (event.key === "?" && !is_field(event.target)) {
    event.preventDefault();
    return void list.showModal();
  }
  if (event.altKey && event.key === "F10") return void form.querySelector("markdown-toolbar [tabindex='0'], markdown-toolbar").focus();
  const deed = (on_a_mac ? event.metaKey : event.ctrlKey) && !event.altKey && deedOf(event);
  if (!deed) return;
  event.preventDefault();
  deed();
});
