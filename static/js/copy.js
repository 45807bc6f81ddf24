// Copies a text as it stands on the page. The button is hidden unless the browser can do that.
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
    button.textContent = button.dataset.copied;
    document.getElementById("live").textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
