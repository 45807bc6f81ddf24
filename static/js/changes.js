// Goes from change to change: by two buttons, and by the keys n and p, which can be switched off.
const section = document.querySelector("[data-changes]");
const steps = section?.querySelector("[data-steps]");
const changes = section ? [...section.querySelectorAll("[id^='change-']")] : [];
const OFF = "dossier:shortcuts-off";

function remembered() {
  try { return localStorage.getItem(OFF) !== null; } catch { return false; }
}
function remember(off) {
  try { if (off) localStorage.setItem(OFF, "1"); else localStorage.removeItem(OFF); } catch { /* For this page alone, then. */ }
}

function open(change) {
  for (let fold = change.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

// From where the focus is, or else from what was gone to last.
let at = -1;
function go(step) {
  const focused = changes.indexOf(document.activeElement);
  const from = focused >= 0 ? focused : at;
  at = Math.min(Math.max(from + step, 0), changes.length - 1);
  open(changes[at]);
  changes[at].focus();
  changes[at].scrollIntoView({ block: "center" });
  const where = steps.querySelector("[data-where]");
  where.textContent = where.dataset.words.replace("{number}", at + 1).replace("{count}", changes.length);
}

if (steps) {
  const keys = steps.querySelector("[data-keys]");
  keys.checked = !remembered();
  keys.addEventListener("change", () => remember(!keys.checked));
  steps.hidden = false;
  section.querySelector("[data-links]").hidden = true;
  for (const button of steps.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => go(Number(button.dataset.step)));
  }
  document.addEventListener("keydown", (event) => {
    if (!keys.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]")) return;
    const step = { n: 1, p: -1 }[event.key];
    if (step) go(step);
  });
}
