// The editor: its parts, and the small things that belong to none of them.
import { form, replaceText, text, token } from "./page.js";
import "./formatted_view.js";
import "./saving.js";
import "./shortcuts.js";

const example = document.querySelector("[data-example]");
example.addEventListener("click", () => {
  if (!text.value) replaceText(document.getElementById("example").textContent);
});
text.addEventListener("input", () => { example.hidden = text.value !== ""; });

// That the size, or what agents will see, could not be told is no trouble: the line below the text says when the
// connection is lost.
for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  form.parentElement.addEventListener(failure, (event) => { if (["size", "draft-preview"].includes(event.target.id)) event.stopPropagation(); });
}
document.addEventListener("htmx:configRequest", (event) => { event.detail.headers["x-csrftoken"] = token(); });
