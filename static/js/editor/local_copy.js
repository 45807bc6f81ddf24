// What is not saved yet, kept by the browser: over a closed laptop, a crash, a lost network.
import { form, text } from "./page.js";

const name = `dossier:text:${form.dataset.person}:${location.pathname}`;
export let works = true;

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    works = true;
  } catch {
    works = value === null;
  }
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

export const keep = () => write(name, { text: text.value, version: form.elements.version.value });
export const forget = () => write(name, null);
export const keepOther = (other) => write(`${name}:other`, other);
export const found = () => [read(name), read(`${name}:other`)].filter((one) => one && typeof one.text === "string");
