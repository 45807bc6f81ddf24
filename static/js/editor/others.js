// Who else has this text open, and whether a newer version came: asked every 20 seconds.
import { announce, fieldsFor, form, send } from "./page.js";

const EVERY = 20000;
const others = document.getElementById("others");
const newer = document.getElementById("newer");

function tell(line, part, said) {
  if (part.textContent === said) return;
  part.textContent = said;
  if (said) announce(line.textContent.trim());
}

export function hear(news) {
  tell(others, others, news.others);
  const is_newer = news.published > Number(form.elements.version.value);
  newer.hidden = !is_newer;
  if (is_newer) tell(newer, newer.firstElementChild, news.newer);
}

async function ask() {
  if (document.visibilityState !== "visible") return;
  try {
    const response = await send("here");
    if (response.ok) hear(await response.json());
  } catch { /* Without a connection there is nobody to hear of; saving says so. */ }
}

setInterval(ask, EVERY);
document.addEventListener("visibilitychange", ask);
window.addEventListener("pagehide", () => {
  const fields = fieldsFor("leave");
  fields.delete("content");
  navigator.sendBeacon(form.action, fields);
});
