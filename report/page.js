"use strict";
// Draws the table of partitions: what it draws first is what the page has without it.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("table");
  const search = document.getElementById("search");
  const filter = document.getElementById("filter");
  const matches = document.getElementById("matches");
  const previous = document.getElementById("previous");
  const next = document.getElementById("next");
  const columns = table.tHead.rows[0].cells.length;
  const PARTITION = 0, START = 1, C = 2, STABLE = 3, END = 4, C_AT = 5, STABLE_AT = 6, BEFORE = 7, AFTER = 8, GROUP = 9,
    RULE = 10, LOST = 11, OUTCOME = 12, RETURNED = 13, FLAGS = 14, NOTE = 15;
  let page = 0;
  let asked = new Map(); // topics that the reader has opened or closed, with how many rows of each; 0 is closed

  function element(name, attributes, ...children) {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  }
  function shape(name, attributes) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    return e;
  }
  const number = (v) => element("td", { class: "n" }, v === null ? "–" : String(v));
  const grouped = (v) => String(v).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

  function bar(row) {
    if (row[START] === row[END]) return element("span", { class: "hint" }, "no records");
    const svg = shape("svg", { class: "bar", width: data.width, height: 14, role: "img",
      "aria-label": `log ${row[START]} to ${row[END]}, C ${row[C]}, last stable ${row[STABLE]}` });
    svg.append(shape("rect", { class: "log", x: 0, y: 2, width: data.width, height: 10 }));
    svg.append(shape("rect", { class: "done", x: 0, y: 2, width: row[C_AT], height: 10 }));
    if (row[STABLE_AT] < data.width) {
      svg.append(shape("rect", { class: "unstable", x: row[STABLE_AT], y: 2, width: data.width - row[STABLE_AT], height: 10 }));
    }
    svg.append(shape("line", { x1: row[C_AT], y1: 0, x2: row[C_AT], y2: 14 }));
    return svg;
  }

  function line(topic, row) {
    const tr = element("tr", {}, element("th", { scope: "row" }, topic.name + "-" + row[PARTITION]));
    if (data.proof) {
      const outcome = data.outcomes[row[OUTCOME]];
      tr.append(element("td", { class: "proof " + outcome.tone }, element("span", { class: "sign", "aria-hidden": "true" }, outcome.sign),
        " " + outcome.name + " ", element("span", { class: "note" }, row[NOTE])));
    }
    tr.append(element("td", {}, bar(row)), number(row[START]), number(row[C]), number(row[STABLE]), number(row[END]), number(row[BEFORE]),
      row[AFTER] === null ? element("td", { class: "n" }, "clear") : number(row[AFTER]));
    if (data.group) tr.append(number(row[GROUP]));
    tr.append(element("td", {}, data.rules[row[RULE]]), element("td", { class: "n" }, grouped(row[LOST])));
    if (data.returned) tr.append(number(row[RETURNED]));
    return tr;
  }

  // found lists the topics with something that the reader looks for, each with its rows.
  function found() {
    const text = search.value.trim().toLowerCase(), flag = Number(filter.value), all = [];
    for (const topic of data.topics) {
      const name = topic.name.toLowerCase();
      const rows = topic.rows.filter((row) => (flag === 0 || (row[FLAGS] & flag) !== 0) &&
        (text === "" || name.includes(text) || (name + "-" + row[PARTITION]).includes(text)));
      if (rows.length > 0) all.push({ topic, rows });
    }
    return all;
  }

  function draw() {
    const all = found();
    page = Math.min(page, Math.max(0, Math.ceil(all.length / data.page) - 1));
    const shown = all.slice(page * data.page, (page + 1) * data.page);
    for (const body of [...table.tBodies]) body.remove();
    let left = data.rows;
    for (const { topic, rows } of shown) {
      const first = Math.min(rows.length, left);
      left -= first; // whatever the reader does with a topic, the others stay as they are
      const here = rows.slice(0, asked.has(topic.name) ? asked.get(topic.name) : first);
      const toggle = element("button", { type: "button", "aria-expanded": String(here.length > 0) }, topic.name);
      toggle.addEventListener("click", () => again(topic, here.length > 0 ? 0 : data.rows));
      const body = element("tbody", {}, element("tr", { class: "topic" },
        element("th", { scope: "rowgroup", colspan: columns }, toggle, " ", element("span", { class: "about" }, topic.about))));
      for (const row of here) body.append(line(topic, row));
      if (here.length > 0 && here.length < rows.length) {
        const more = element("button", { type: "button" }, `Show ${grouped(Math.min(data.rows, rows.length - here.length))} more of ${grouped(rows.length)}`);
        more.addEventListener("click", () => again(topic, here.length + data.rows));
        body.append(element("tr", { class: "more" }, element("td", { colspan: columns }, more)));
      }
      table.append(body);
    }
    const partitions = all.reduce((n, one) => n + one.rows.length, 0);
    matches.textContent = `${grouped(partitions)} ${partitions === 1 ? "partition" : "partitions"} of ${grouped(all.length)} ${all.length === 1 ? "topic" : "topics"}` +
      (all.length > data.page ? `, topics ${grouped(page * data.page + 1)} to ${grouped(page * data.page + shown.length)}` : "");
    previous.parentElement.hidden = all.length <= data.page;
    previous.disabled = page === 0;
    next.disabled = (page + 1) * data.page >= all.length;
  }
  // again draws a topic with so many rows, and leaves the focus where it was.
  function again(topic, rows) {
    asked.set(topic.name, rows);
    draw();
    for (const body of table.tBodies) {
      const button = body.querySelector("tr.topic button");
      if (button.textContent === topic.name) button.focus({ preventScroll: true });
    }
  }
  function look() {
    page = 0;
    asked = new Map();
    draw();
  }
  function turn(by) {
    page += by;
    draw();
    table.scrollIntoView();
  }

  search.addEventListener("input", look);
  filter.addEventListener("change", look);
  previous.addEventListener("click", () => turn(-1));
  next.addEventListener("click", () => turn(1));
  document.getElementById("controls").addEventListener("submit", (e) => e.preventDefault());
  // What is printed is read without a click.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  document.getElementById("controls").hidden = false;
  draw();
})();
