// Keeps the text as the person's draft while it is written: a second after the last key, one request at a time, again
// and again when the network or the session is lost.
import { form, plain, send, text, words } from "./page.js";
import * as local from "./local_copy.js";
import * as otherText from "./other_text.js";
import * as state from "./state.js";
import { hear } from "./others.js";

const QUIET = 1000;
const PATIENCE = [2000, 4000, 8000, 15000, 30000];
const { revision, version, keeping } = form.elements;
let stored = words.kept === "no" ? null : text.value; // what the server has, or shows as published
let sent = null;
let running = null;
let timer = 0;
let failures = 0;
let over = false; // the form is on its way, or nothing can be saved from here any more

export const dirty = () => text.value !== stored;

function later(delay) {
  clearTimeout(timer);
  timer = setTimeout(save, delay);
}

export async function save() {
  clearTimeout(timer);
  if (running) await running;
  if (over || otherText.holds() || !dirty()) return;
  running = attempt();
  await running;
  running = null;
  if (dirty() && !over && !failures && !otherText.holds()) later(QUIET);
}

async function attempt() {
  sent = text.value;
  let response;
  let answer;
  try {
    response = await send("keep", { signal: AbortSignal.timeout(20000) });
    answer = await response.json();
  } catch {
    return failed(response ? "busy" : "offline");
  }
  if (response.ok) return kept(answer);
  if (response.status === 401) return failed("signedOut");
  if (response.status === 412) return goneOn(answer);
  if (response.status === 422 && answer.code === "other_person") return failed("otherPerson", answer.detail);
  if (response.status === 422) return refused(answer.detail);
  if (response.status === 404 || (response.status === 403 && answer.code !== "page_too_old")) return refused(words.wordsNotYours);
  return failed("busy");
}

function kept(answer) {
  failures = 0;
  stored = sent;
  revision.value = answer.revision;
  keeping.value = "";
  if (text.value === stored) local.forget();
  state.hasDraft(answer.kept);
  if (answer.kept) state.saved(); else state.same();
  hear(answer);
  form.dispatchEvent(new CustomEvent("dossier:draft-saved", { bubbles: true, detail: { kept: answer.kept } }));
}

function failed(kind, said) {
  local.keep();
  state.trouble(kind, said ?? words[`words${kind[0].toUpperCase()}${kind.slice(1)}`]);
  later(PATIENCE[Math.min(failures++, PATIENCE.length - 1)]);
}

function refused(said) {
  local.keep();
  state.trouble("refused", said);
  failures = 1; // until something is typed, there is no use in trying again
}

function goneOn(answer) {
  const theirs = plain(answer.content);
  revision.value = answer.revision;
  // An answer that got lost on its way: the server has what was sent from here.
  if (theirs === sent || theirs === stored) return void later(0);
  local.keep();
  state.trouble("twoWindows", words.wordsTwoWindows);
  otherText.offer("window", { text: theirs, version: answer.based_on }, () => {
    keeping.value = "on"; // what the draft says now is set aside
    stored = null;
    save();
  });
}

text.addEventListener("input", () => {
  if (failures && form.querySelector("#state").dataset.state === "refused") failures = 0;
  state.writing();
  local.keep();
  if (!failures) later(QUIET);
});

// A failure of which nothing is left to save is over once Dossier answers.
function recovered() {
  if (failures && !dirty()) {
    failures = 0;
    state.saved();
  }
}

// Whether Dossier answers; if not, the line below the text says so.
async function reachable() {
  await save();
  if (failures && dirty()) return false;
  try {
    await fetch(form.action, { method: "HEAD", signal: AbortSignal.timeout(5000) });
    recovered();
    return true;
  } catch {
    failed("offline");
    return false;
  }
}

let checked = false;
form.addEventListener("submit", async (event) => {
  if (event.submitter?.value === "review" && !checked) {
    event.preventDefault();
    checked = await reachable();
    return void (checked && form.requestSubmit(event.submitter));
  }
  checked = false;
  clearTimeout(timer);
  if (running) {
    event.preventDefault();
    await running;
    return void form.requestSubmit(event.submitter);
  }
  over = true;
  // What is sent now is on the server from now on; where it did not get there, it is offered on the next visit.
  if (dirty()) local.keep(); else local.forget();
});
window.addEventListener("pageshow", (event) => { if (event.persisted) { over = false; save(); } });
window.addEventListener("online", () => { recovered(); save(); });
document.addEventListener("visibilitychange", () => {
  if (over || !dirty()) return;
  local.keep();
  save();
});
window.addEventListener("beforeunload", (event) => {
  if (!over && dirty() && !local.works) event.preventDefault();
});
for (const link of document.querySelectorAll("a[data-flush]")) {
  link.addEventListener("click", async (event) => {
    if (!dirty() || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    await save();
    location.assign(link.href);
  });
}

// What the browser kept and the server does not have is offered; what it has is kept no longer.
const shown = [text.value, ...[...document.querySelectorAll("#yours, #set-aside")].map((part) => part.textContent)];
const unsaved = local.found().filter((one) => one.text.trim() && !shown.includes(one.text));
const hasTwo = document.getElementById("yours") !== null; // then the own text may be nowhere but here
if (unsaved.length) {
  otherText.offer("local", unsaved[0], () => { local.forget(); save(); });
} else if (!hasTwo) {
  local.forget();
  local.keepOther(null);
}
if (words.kept === "no") later(0);
