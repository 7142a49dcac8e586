"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const factors = new Map(data.factors.map((f) => [f.name, { ...f, of: [...f.codes].map((c) => parseInt(c, 36)) }]));
  const figures = new Map(data.figures.map((f) => [f.name, f]));
  const specs = [...data.specs.codes].map((c) => parseInt(c, 36));
  const text = (factor, cell) => factors.get(factor).levels[factors.get(factor).of[cell]];
  const value = (figure, cell) => figures.get(figure).values[cell];
  const number = (level) => parseFloat(level);
  const words = (level) => level.replace(/(^| )([\d.]+)mbit/g, "$1$2 Mbit/s").replace(/(^| )([\d.]+)(ms|%)/g, "$1$2 $3");
  const short = (v) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v >= 1 || v === 0 ? v.toFixed(2) : v.toFixed(3));
  const shown = (figure, v) =>
    v === null || v === undefined ? "–" : figures.get(figure).unit === "%" ? `${(100 * v).toFixed(2)} %` : short(v);
  const make = (name, content, attributes = {}) => {
    const element = document.createElement(name);
    for (const [key, v] of Object.entries(attributes)) element.setAttribute(key, v);
    if (Array.isArray(content)) element.append(...content);
    else if (content !== undefined) element.textContent = content;
    return element;
  };
  const median = (values) => {
    const sorted = values.filter((v) => v !== null).sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length === 0 ? null : sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  // --- filters and table ---
  const boxes = (factor) => [...document.querySelectorAll(`fieldset[data-factor="${factor}"] input`)];
  const PAGE = 25;
  let sort = { key: null, up: true };
  let limit = PAGE;
  let cells = [];

  const chosen = () => {
    const wanted = [];
    for (const [name, factor] of factors) {
      const on = boxes(name).filter((box) => box.checked).map((box) => factor.levels.indexOf(box.value));
      if (on.length) wanted.push([factor.of, new Set(on)]);
    }
    return wanted;
  };

  const filtered = () => {
    const wanted = chosen();
    const found = [];
    for (let cell = 0; cell < data.cells; cell++) {
      if (wanted.every(([of, levels]) => levels.has(of[cell]))) found.push(cell);
    }
    return found;
  };

  const ordered = (found) => {
    if (sort.key === null) return found;
    const factor = factors.get(sort.key);
    const key = factor ? (cell) => factor.of[cell] : (cell) => value(sort.key, cell);
    const sign = sort.up ? 1 : -1;
    return [...found].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return sign * (x - y) || a - b;
    });
  };

  const head = () => {
    const columns = [...data.factors.map((f) => [f.name, f.words, ""]), ...data.figures.map((f) => [f.name, f.words, f.unit])];
    const cellsOfHead = columns.map(([name, title, unit]) => {
      const button = make("button", title, { type: "button", "data-sort": name });
      const th = make("th", [button], { scope: "col", class: unit ? "number" : "" });
      if (unit) th.append(make("span", unit, { class: "unit" }));
      if (sort.key === name) {
        th.setAttribute("aria-sort", sort.up ? "ascending" : "descending");
        th.append(sort.up ? " ↑" : " ↓");
      }
      return th;
    });
    return make("thead", [make("tr", [make("th", "line", { scope: "col" }), ...cellsOfHead])]);
  };

  const line = (cell) => {
    const button = make("button", `${cell + 1}`, { type: "button", "data-cell": cell, "aria-label": `Command of line ${cell + 1}` });
    const parts = [make("td", [button])];
    for (const f of data.factors) parts.push(make("td", words(text(f.name, cell))));
    for (const f of data.figures) parts.push(make("td", shown(f.name, value(f.name, cell)), { class: "number" }));
    if (data.valid[cell] === "0") parts[0].append(" not valid");
    return make("tr", parts);
  };

  const drawTable = () => {
    const focused = document.activeElement?.dataset?.sort;
    byId("table").replaceChildren(head(), make("tbody", ordered(cells).slice(0, limit).map(line)));
    byId("count").textContent = `${cells.length} of ${data.cells} cells`;
    byId("more").hidden = cells.length <= limit;
    if (focused) document.querySelector(`#table [data-sort="${focused}"]`)?.focus();
  };

  const update = () => {
    cells = filtered();
    drawTable();
    drawMap();
  };

  byId("filters").addEventListener("change", () => { limit = PAGE; update(); });
  byId("clear").addEventListener("click", () => {
    for (const box of document.querySelectorAll("#filters input")) box.checked = false;
    limit = PAGE;
    update();
  });
  byId("more").addEventListener("click", () => { limit += 8 * PAGE; drawTable(); });
  byId("table").addEventListener("click", (event) => {
    const { sort: key, cell } = event.target.dataset ?? {};
    if (key) {
      // Figures start with the highest, factors with the first level.
      sort = { key, up: sort.key === key ? !sort.up : factors.has(key) };
      drawTable();
      document.querySelector(`#table [data-sort="${key}"]`)?.focus();
    } else if (cell) command(Number(cell));
  });

  const command = (cell) => {
    const quote = (t) => (/^[\w.%:=-]+$/.test(t) ? t : `'${t}'`);
    const sets = data.factors.filter((f) => f.key !== "path.rate").map((f) => `--set ${quote(`${f.key}=${text(f.name, cell)}`)}`);
    const file = data.specs.levels[specs[cell]];
    byId("command").replaceChildren(
      make("p", `Line ${cell + 1} again:`),
      make("pre", `pathtwin lab run docs/atlas/${file}.toml ${sets.join(" ")}`),
    );
    byId("command").scrollIntoView({ block: "nearest" });
  };

  // --- map ---
  const drawMap = () => {
    const figure = byId("map-figure").value;
    const [down, across] = [factors.get(byId("map-down").value), factors.get(byId("map-across").value)];
    const values = down.levels.map(() => across.levels.map(() => []));
    for (const cell of cells) {
      if (data.valid[cell] === "1") values[down.of[cell]][across.of[cell]].push(value(figure, cell));
    }
    const medians = values.map((row) => row.map(median));
    const all = medians.flat().filter((v) => v !== null);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const of = low > 0 && high > 10 * low ? Math.log : (v) => v;
    const shade = (v) => (high > low ? Math.min(8, Math.floor((9 * (of(v) - of(low))) / (of(high) - of(low)))) : 4);
    const used = across.levels.map((_, x) => medians.some((row) => row[x] !== null));
    const columns = across.levels.map((level, x) => [words(level), x]).filter(([, x]) => used[x]);
    const corner = make("th", `${down.words} ↓ ${across.words} →`, { scope: "col" });
    const rows = down.levels.flatMap((level, y) => {
      if (medians[y].every((v) => v === null)) return [];
      const squares = columns.map(([, x]) => {
        const v = medians[y][x];
        if (v === null) return make("td", "–", { class: "none" });
        return make("td", [shown(figure, v), make("small", `n = ${values[y][x].length}`)], { class: `h${shade(v)}` });
      });
      return [make("tr", [make("th", words(level), { scope: "row" }), ...squares])];
    });
    const { words: name, unit } = figures.get(figure);
    byId("heat").replaceChildren(
      make("caption", `Median ${name}, ${unit}`),
      make("thead", [make("tr", [corner, ...columns.map(([level]) => make("th", level, { scope: "col" }))])]),
      make("tbody", rows),
    );
  };
  byId("axes").addEventListener("change", drawMap);
  byId("axes").addEventListener("submit", (event) => event.preventDefault());

  // --- the user's path ---
  const nearest = (factor, wanted, floor) => {
    const at = (v) => Math.log(Math.max(v, floor));
    const distance = (level) => Math.abs(at(number(level)) - at(wanted));
    return factors.get(factor).levels.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  };

  // A cell without answered probes is the last one where delay counts.
  const loaded = (cell) => value("loaded_rtt_ms", cell) ?? Infinity;
  const GOALS = {
    goodput: (cell) => value("goodput_mbps", cell),
    balanced: (cell) => value("goodput_mbps", cell) / loaded(cell),
    delay: (cell, best) => (value("goodput_mbps", cell) >= best / 2 ? 1 : 1e-6) / loaded(cell),
  };

  // Each with the least value that it can have on a logarithmic scale.
  const ASKED = [["rate", 0.1], ["rtt", 0.1], ["loss", 0.003]];
  const given = (name) => parseFloat(byId(`ask-${name}`).value);

  // What the table does not have is said, since the nearest cells may be far away.
  const beyond = ([name]) => {
    const levels = factors.get(name).levels.map(number);
    const [low, high] = [Math.min(...levels), Math.max(...levels)];
    const value = given(name);
    if (value >= low && value <= high) return [];
    const asked = Number.isFinite(value) && value >= 0 ? short(value) : "nothing";
    return [`${factors.get(name).words}: ${asked} is outside of the table, which has ${short(low)} to ${short(high)}`];
  };

  const ask = () => {
    const ends = ASKED.map(([name, floor]) => [name, nearest(name, Math.max(0, given(name) || 0), floor)]);
    const where = {
      ...Object.fromEntries(ends),
      tunnel: byId("ask-tunnel").value,
      flows: byId("ask-flows").value,
    };
    const queue = byId("ask-queue").value;
    const found = [];
    for (let cell = 0; cell < data.cells; cell++) {
      const fits = Object.entries(where).every(([name, level]) => text(name, cell) === level);
      // A policer is nothing that one chooses.
      const choice = text("queue", cell) === queue || !text("queue", cell).startsWith("policer");
      if (fits && choice && data.valid[cell] === "1" && value("goodput_mbps", cell) !== null) found.push(cell);
    }
    const best = Math.max(...found.map((cell) => value("goodput_mbps", cell)));
    const score = (cell) => GOALS[byId("ask-goal").value](cell, best);
    found.sort((a, b) => score(b) - score(a) || a - b);
    const now = found.find((cell) => text("queue", cell) === queue && text("cc", cell) === byId("ask-cc").value);
    answer(where, found, now, found.find((cell) => text("queue", cell) === queue));
  };

  const setting = (cell) => `${text("cc", cell)} with ${words(text("queue", cell))}`;
  const brief = (cell) =>
    `${short(value("goodput_mbps", cell))} Mbit/s, loaded RTT ${shown("loaded_rtt_ms", value("loaded_rtt_ms", cell))} ms, ` +
    `retransmitted ${shown("retransmitted", value("retransmitted", cell))}`;

  const answer = (where, found, now, sameQueue) => {
    const at = ["rate", "rtt", "loss", "tunnel", "flows"].map((name) => `${factors.get(name).words} ${words(where[name])}`).join(", ");
    const lines = [`Nearest cells: ${at}.`];
    const outside = ASKED.flatMap(beyond);
    if (outside.length > 0) lines.push(`Not your path: ${outside.join("; ")}.`);
    if (found.length === 0) lines.push("There are no cells for it: tunnels, and several flows, are not run at every rate.");
    else {
      if (now !== undefined) lines.push(`Now, ${setting(now)}: ${brief(now)}.`);
      if (sameQueue !== undefined) lines.push(`Best with this queue, ${setting(sameQueue)}: ${brief(sameQueue)}.`);
      lines.push(`Best of all, ${setting(found[0])}: ${brief(found[0])}.`);
    }
    byId("answer").replaceChildren(...lines.map((text) => make("p", text)));
    const names = ["goodput_mbps", "loaded_rtt_ms", "loaded_rtt_p99_ms", "retransmitted", "competitor_mbps"];
    const title = (name) => [figures.get(name).words, make("span", figures.get(name).unit, { class: "unit" })];
    const rows = found.map((cell) => {
      const parts = ["cc", "queue"].map((name) => make("th", words(text(name, cell)), { scope: "row" }));
      parts.push(...names.map((name) => make("td", shown(name, value(name, cell)), { class: "number" })));
      const note = [cell === now ? "now" : "", cell === found[0] ? "best" : ""].filter(Boolean).join(", ");
      parts.push(make("td", note));
      return make("tr", parts, { class: cell === now ? "now" : cell === found[0] ? "best" : "" });
    });
    const titles = ["cc", "queue"].map((name) => make("th", factors.get(name).words, { scope: "col" }));
    titles.push(...names.map((name) => make("th", title(name), { scope: "col", class: "number" })), make("th", "", { scope: "col" }));
    byId("settings").replaceChildren(make("thead", [make("tr", titles)]), make("tbody", rows));
  };
  byId("ask").addEventListener("input", ask);
  byId("ask").addEventListener("submit", (event) => event.preventDefault());

  // --- addresses: #cc=bbr,cubic&loss=1%25 shows these cells ---
  const follow = () => {
    const part = location.hash.slice(1);
    if (!part.includes("=")) return;
    for (const box of document.querySelectorAll("#filters input")) box.checked = false;
    for (const pair of part.split("&")) {
      const [name, levels] = pair.split("=");
      const wanted = (levels ?? "").split(",").map(decodeURIComponent);
      if (factors.has(name)) for (const box of boxes(name)) box.checked = wanted.includes(box.value);
    }
    limit = PAGE;
    update();
    byId("cells").scrollIntoView();
  };
  addEventListener("hashchange", follow);

  update();
  ask();
  follow();
})();
