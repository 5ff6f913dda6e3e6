"use strict";
(function () {
  function key(row, column) {
    var cell = row.cells[column], by = cell.dataset.by;
    return by === undefined ? cell.textContent.trim() : Number(by);
  }
  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one === "number") return -1;
    if (typeof other === "number") return 1;
    return one.localeCompare(other, undefined, { numeric: true });
  }
  function sort(button) {
    var head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    var down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(function (th) { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    Array.from(body.rows)
      .sort(function (one, other) {
        return (down ? -1 : 1) * compare(key(one, head.cellIndex), key(other, head.cellIndex));
      })
      .forEach(function (row) { body.appendChild(row); });
  }
  function open() {
    var found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!found) return;
    for (var at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    found.scrollIntoView();
    var summary = found.querySelector("summary");
    if (summary) summary.focus();
  }
  document.querySelectorAll("table.sortable thead button").forEach(function (button) {
    button.addEventListener("click", function () { sort(button); });
  });
  window.addEventListener("hashchange", open);
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (found) { found.open = true; });
  });
  open();
})();
