// Asks before a page with unsaved text is left, and says in the form whether there is any.
const form = document.querySelector("form[data-unsaved]");
const text = form.querySelector("textarea");
const status = form.querySelector("[data-unsaved-status]");
const saved = status.textContent;
// After a refused save the text on the page is not the stored one.
const refused = form.dataset.unsaved === "refused";
let leaving = false;

const dirty = () => refused || text.value !== text.defaultValue;

text.addEventListener("input", () => {
  status.textContent = dirty() ? status.dataset.unsavedStatus : saved;
});
// What was typed before this script ran, or what the browser kept over a reload, counts as typed now.
window.addEventListener("load", () => {
  if (dirty()) text.dispatchEvent(new Event("input", { bubbles: true }));
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
