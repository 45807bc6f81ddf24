// Tells what changed: to screen readers through the live region, to everybody by moving the focus there.
const live = document.getElementById("live");
const trouble = document.getElementById("trouble");

function announce(text) {
  live.textContent = "";
  // A region announces a change, so the text comes a moment after it was emptied.
  setTimeout(() => { live.textContent = text; }, 100);
}

const message = document.querySelector("[data-message]");
if (message) announce(message.textContent.trim());

document.addEventListener("htmx:afterSwap", (event) => {
  trouble.hidden = true;
  if (!event.detail.target) return;  // The whole page was restored from the history.
  const swapped = document.getElementById(event.detail.target.id) ?? event.detail.target;
  const spoken = swapped.matches("[data-announce]") ? swapped : swapped.querySelector("[data-announce]");
  if (spoken) announce(spoken.dataset.announce || spoken.textContent.trim());
  const focused = swapped.matches("[data-focus]") ? swapped : swapped.querySelector("[data-focus]");
  if (focused) focused.focus();
});

// Who was signed out meanwhile gets the sign-in page as an answer: that belongs nowhere in this page.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.xhr.responseURL.includes("/accounts/login/")) return;
  event.detail.shouldSwap = false;
  trouble.hidden = false;
});

for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, () => { trouble.hidden = false; });
}
