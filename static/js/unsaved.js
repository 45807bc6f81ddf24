// Asks before a page with unsaved changes is left, and shows in the form, if it has a place for it, whether there are any.
const form = document.querySelector("form[data-unsaved]");
const status = form.querySelector("[data-unsaved-status]");
const saved = status?.textContent;
// After a refused save what is on the page is not what is stored; nor is what htmx brought in since.
let refused = form.dataset.unsaved === "refused";
let leaving = false;

function changed(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) {
    const standard = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(standard, 0);
  }
  return field.type !== "hidden" && "defaultValue" in field && field.value !== field.defaultValue;
}
const dirty = () => refused || [...form.elements].some(changed);

form.addEventListener("input", () => {
  if (status) status.textContent = dirty() ? status.dataset.unsavedStatus : saved;
});
// What was typed before this script ran, or what the browser kept over a reload, counts as typed now.
window.addEventListener("load", () => {
  if (dirty()) form.querySelector("textarea, input:not([type=hidden])").dispatchEvent(new Event("input", { bubbles: true }));
});
form.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.querySelector("input, select, textarea")) refused = true;
});
form.addEventListener("submit", () => { leaving = true; });
window.addEventListener("pageshow", () => { leaving = false; });
window.addEventListener("beforeunload", (event) => {
  if (dirty() && !leaving) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    form.requestSubmit(form.querySelector("button.main"));
  }
});
