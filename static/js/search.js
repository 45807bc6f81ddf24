// Ctrl-K, or the link “Search”, opens the search over everything. Arrow keys move between the results.
const dialog = document.getElementById("search-dialog");
const words = document.getElementById("search-dialog-words");

function open(event) {
  event.preventDefault();
  if (dialog.open) return;
  dialog.showModal();
  words.select();
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) open(event);
});
for (const link of document.querySelectorAll("[data-search]")) link.addEventListener("click", open);

dialog?.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const places = [words, ...dialog.querySelectorAll("#search-dialog-results a")];
  const at = places.indexOf(document.activeElement);
  places[Math.min(Math.max(at + step, 0), places.length - 1)].focus();
});
dialog?.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
