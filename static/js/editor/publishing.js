// The page before publishing: Ctrl+Enter in the note publishes, as Ctrl+Enter in the editor led here.
const form = document.querySelector("form.publish");
form.querySelector("input[name=note]").focus();
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(form.querySelector(".main"));
});
