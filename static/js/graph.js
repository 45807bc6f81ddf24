// Points out what belongs to the entity under the pointer or the focus, and brings the middle of a wide drawing into view.
for (const canvas of document.querySelectorAll("[data-graph]")) {
  const graph = canvas.querySelector("svg");
  const parts = [...graph.querySelectorAll("[data-ends]")].map((part) => [part, part.dataset.ends.split(" ")]);
  const nodes = [...graph.querySelectorAll("[data-node], [data-named]")];

  const point = (id) => {
    const near = new Set(id ? [id] : []);
    for (const [part, ends] of parts) {
      const touches = ends.includes(id);
      part.classList.toggle("near", touches);
      if (touches) ends.forEach((end) => near.add(end));
    }
    for (const node of nodes) node.classList.toggle("near", near.has(node.dataset.node ?? node.dataset.named));
    graph.classList.toggle("pointed", Boolean(id));
  };
  const pointed = (event) => point(event.target.closest?.("[data-node]")?.dataset.node);
  graph.addEventListener("pointerover", pointed);
  graph.addEventListener("pointerleave", () => point(document.activeElement?.dataset?.node));
  graph.addEventListener("focusin", pointed);
  graph.addEventListener("focusout", () => point());

  const middle = graph.querySelector(".centre circle");
  if (canvas.scrollWidth > canvas.clientWidth) {
    const share = middle ? middle.cx.baseVal.value / graph.viewBox.baseVal.width : 0.5;
    canvas.scrollLeft = share * canvas.scrollWidth - canvas.clientWidth / 2;
  }
}
