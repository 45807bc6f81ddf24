// Copies a text as it stands on the page, or all of it from an address. The button is hidden unless the browser can.
for (const button of document.querySelectorAll("[data-copy], [data-copy-from]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const { copy, copyFrom } = button.dataset;
    const text = copyFrom ? await (await fetch(copyFrom)).text() : document.querySelector(copy).textContent;
    await navigator.clipboard.writeText(text);
    button.textContent = button.dataset.copied;
    document.getElementById("live").textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
