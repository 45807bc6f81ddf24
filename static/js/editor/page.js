// The parts of the editor's page, and what its scripts share.
export const form = document.getElementById("editor");
export const text = document.getElementById("text");
export const words = form.dataset;
const live = document.getElementById("live");

export function announce(said) {
  live.textContent = "";
  setTimeout(() => { live.textContent = said; }, 100);
}

// As typing would: so that it can be undone, and everybody hears of it.
export function replaceText(value) {
  text.focus();
  text.select();
  const done = value ? document.execCommand("insertText", false, value) : document.execCommand("delete");
  if (done && text.value === value) return;
  text.value = value;
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

export const plain = (value) => value.replace(/\r\n?/g, "\n");

export function token() {
  // Signing in again, in another tab, changes the token: the cookie always has the newest.
  const cookie = document.cookie.split("; ").find((one) => one.startsWith("csrftoken="));
  return cookie?.slice("csrftoken=".length) ?? form.elements.csrfmiddlewaretoken.value;
}

export function refreshToken() {
  for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = token();
}

export function fieldsFor(deed) {
  refreshToken();
  const fields = new FormData(form);
  fields.set("deed", deed);
  return fields;
}

export function send(deed, options = {}) {
  return fetch(form.action, {
    method: "POST",
    body: fieldsFor(deed),
    headers: { Accept: "application/json", "X-CSRFToken": token() },
    ...options,
  });
}
