// The formatted view beside the text: it follows what is typed and how far the text is scrolled, until it is closed.
import { fieldsFor, form, text, token } from "./page.js";

const QUIET = 400;
const button = form.querySelector("[data-preview]");
const pane = document.getElementById("preview");
let timer = 0;
let latest = 0;

const isOpen = () => !pane.hidden;

async function draw() {
  const mine = ++latest;
  const headers = { "HX-Request": "true", "X-CSRFToken": token() };
  try {
    const response = await fetch(form.action, { method: "POST", body: fieldsFor("preview"), headers });
    const html = await response.text();
    if (response.ok && mine === latest) pane.innerHTML = html;
  } catch { /* The line below the text says when the connection is lost. */ }
  scroll();
}

function scroll() {
  const hidden = text.scrollHeight - text.clientHeight;
  if (hidden > 0) pane.scrollTop = (text.scrollTop / hidden) * (pane.scrollHeight - pane.clientHeight);
}

button.addEventListener("click", (event) => {
  event.preventDefault();
  pane.hidden = isOpen();
  button.setAttribute("aria-pressed", String(isOpen()));
  pane.parentElement.classList.toggle("open", isOpen());
  if (isOpen()) draw();
});
text.addEventListener("input", () => {
  clearTimeout(timer);
  if (isOpen()) timer = setTimeout(draw, QUIET);
});
text.addEventListener("scroll", () => { if (isOpen()) scroll(); });
