// The rows selected in a list: how many, all at once, and the buttons that need some. The list may be replaced by htmx.
function show(form) {
  const picks = [...document.querySelectorAll(`input[name="pick"][form="${form.id}"]`)];
  const picked = picks.filter((pick) => pick.checked).length;
  const all = document.querySelector(`[data-select-all="${form.id}"]`);
  if (all) {
    all.hidden = false;
    all.checked = picked > 0 && picked === picks.length;
    all.indeterminate = picked > 0 && picked < picks.length;
  }
  for (const button of form.querySelectorAll("button")) {
    const [least, most] = [Number(button.dataset.least ?? 1), Number(button.dataset.most ?? Infinity)];
    button.disabled = picked < least || picked > most;
  }
  const count = form.querySelector("[data-selected]");
  count.textContent = picked ? count.dataset.selected.replace("0", picked) : "";
}

function showAll() {
  for (const form of document.querySelectorAll("form[data-selection]")) show(form);
}

document.addEventListener("change", ({ target }) => {
  const form = document.getElementById(target.dataset.selectAll ?? target.getAttribute("form"));
  if (!form?.matches("[data-selection]")) return;
  if (target.dataset.selectAll) {
    for (const pick of document.querySelectorAll(`input[name="pick"][form="${form.id}"]`)) pick.checked = target.checked;
  }
  show(form);
});
document.addEventListener("htmx:afterSettle", showAll);
window.addEventListener("pageshow", showAll); // also when the browser brings the page back with its ticks
