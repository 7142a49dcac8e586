"use strict";
// Charts of the page. All values are in the tables, too: without this script nothing is missing but
// the drawings.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = Object.fromEntries(data.words);
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const FONT = "12px system-ui, sans-serif";
  const plots = new Set();
  // For tests, and for the curious: what is drawn.
  window.pathtwin = { data, plots, steps: [] };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  // Three digits, as in the tables.
  const short = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 || size === 0 ? 2 : 3);
  };
  const tick = (value) => (value === null ? "" : String(Number(value.toPrecision(6))));

  // Commands can be copied by a button; without the clipboard's interface by the selection.
  for (const pre of document.querySelectorAll("pre.commands")) {
    const box = make("div", "copyable");
    const button = make("button", "", words.copy);
    button.type = "button";
    button.addEventListener("click", () => {
      const text = pre.textContent;
      const done = () => {
        button.textContent = words.copied;
        setTimeout(() => { button.textContent = words.copy; }, 2000);
      };
      const bySelection = () => {
        getSelection().selectAllChildren(pre);
        if (document.execCommand("copy")) done();
      };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, bySelection);
      else bySelection();
    });
    pre.replaceWith(box);
    box.append(pre, button);
  }

  // Commands of remedies are open without this script. With it, the link to their row opens them.
  for (const more of document.querySelectorAll("details[data-linked]")) more.open = false;
  const reveal = (hash) => {
    const more = hash && document.getElementById(hash.slice(1))?.querySelector("details[data-linked]");
    if (more) more.open = true;
  };
  for (const link of document.querySelectorAll("svg.remedies a")) {
    // A second click on the same link changes no address.
    link.addEventListener("click", () => reveal(link.getAttribute("href")));
  }
  addEventListener("hashchange", () => reveal(location.hash));
  reveal(location.hash);

  // A swatch shows colour and dash, or the shape of points.
  function swatch(line) {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    const set = (element, values) => {
      for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
      return element;
    };
    set(svg, { width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true", class: "k" + line.colour });
    if (line.points) {
      const path = { disc: "M13 2a4 4 0 1 0 .1 0z", square: "M9 2h8v8h-8z", diamond: "M13 1l5 5-5 5-5-5z", triangle: "M13 1l5 9h-10z" };
      svg.append(set(document.createElementNS(ns, "path"), { d: path[line.points], fill: "currentColor" }));
    } else {
      svg.append(set(document.createElementNS(ns, "line"), {
        x1: 0, x2: 26, y1: 6, y2: 6, stroke: "currentColor", "stroke-width": 2.5,
        "stroke-dasharray": DASHES[line.dash % DASHES.length].join(" "),
      }));
    }
    return svg;
  }

  // The key above a chart; its values follow the cursor.
  function key(title, lines) {
    const box = make("div", "key");
    if (title) box.append(make("span", "title", title));
    const values = lines.map((line) => {
      const item = make("span");
      const value = make("b");
      item.append(swatch(line), make("span", "", line.name), value);
      box.append(item);
      return value;
    });
    return { box, show: (texts) => values.forEach((value, i) => { value.textContent = texts[i] ?? ""; }) };
  }

  const axis = (label, more) => ({
    label, labelFont: FONT, font: FONT, labelSize: label ? 18 : 0, stroke: colour("--soft"), size: 46,
    grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, values: (_, all) => all.map(tick), ...more,
  });

  function watch(plot, place, height) {
    const entry = { plot, place };
    plots.add(entry);
    const observer = new ResizeObserver(() => {
      const width = Math.floor(place.clientWidth);
      if (width > 0 && width !== plot.width) plot.setSize({ width, height });
    });
    observer.observe(place);
    return () => { observer.disconnect(); plots.delete(entry); plot.destroy(); };
  }

  const widthOf = (place) => Math.max(240, Math.floor(place.clientWidth));

  // A distribution may repeat an x, and the chart needs increasing ones: each is slightly further.
  function rising(xy) {
    let last = -Infinity;
    return xy.map(([x]) => (last = Math.max(x, last + Math.abs(last === -Infinity ? 0 : last) * 1e-9 + 1e-12)));
  }

  // Round places of a logarithmic axis: powers of ten, with 2 and 5 where there is room.
  function decades(u, _, min, max) {
    const all = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1) {
      for (const part of max / min < 300 ? [1, 2, 5] : [1]) all.push(Number((part * 10 ** power).toPrecision(3)));
    }
    return all.filter((value) => value >= min * 0.999 && value <= max * 1.001);
  }

  // A chart of lines and points over one x.
  function draw(chart, place) {
    const height = place.clientWidth < 480 ? 250 : 300;
    const labels = key("", chart.series);
    const body = make("div");
    place.append(labels.box, body);
    const scale = (axis) => ({
      time: false, distr: axis.log ? 3 : 1,
      range: (_, low, high) => {
        if (axis.log) return [axis.from ?? low / 1.3, axis.to ?? high * 1.3];
        const room = (high - low) * 0.03 || 1;
        return [axis.from ?? Math.max(0, low - room), axis.to ?? high + room];
      },
    });
    const round = (axis) => (axis.log ? { splits: decades, filter: (_, all) => all } : {});
    const joined = uPlot.join(chart.series.map((line) => [rising(line.xy), line.xy.map((p) => p[1])]));
    const plot = new uPlot({
      width: widthOf(body), height, legend: { show: false }, padding: [8, 12, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: { x: scale(chart.x), y: scale(chart.y) },
      axes: [axis(chart.x.label, { size: 30, space: 60, ...round(chart.x) }), axis(chart.y.label, { space: 34, ...round(chart.y) })],
      series: [{}, ...chart.series.map((line) => ({
        label: line.name, stroke: colour("--c" + line.colour), width: 2.25, dash: DASHES[line.dash % DASHES.length],
        spanGaps: true, points: { show: false }, paths: line.points ? () => null : undefined,
      }))],
      hooks: {
        draw: [(u) => chart.series.forEach((line) => line.points && points(u, line))],
        setCursor: [(u) => {
          const inside = u.cursor.left >= 0;
          const x = inside ? u.posToVal(u.cursor.left, "x") : 0;
          labels.show(chart.series.map((line) => (inside && !line.points ? at(line.xy, x) : "")));
        }],
      },
    }, joined, body);
    plot.chart = chart;
    return watch(plot, body, height);
  }

  // The value of a line at or before x.
  function at(xy, x) {
    let found = null;
    for (const [px, py] of xy) if (px <= x) found = py;
    return found === null ? "" : short(found);
  }

  // Points with their intervals.
  function points(u, line) {
    const context = u.ctx;
    const ratio = uPlot.pxRatio;
    context.save();
    context.strokeStyle = context.fillStyle = colour("--c" + line.colour);
    context.lineWidth = 1.5 * ratio;
    context.setLineDash([]);
    line.xy.forEach(([x, y], i) => {
      const cx = u.valToPos(x, "x", true);
      const cy = u.valToPos(y, "y", true);
      const bar = line.bars[i];
      if (bar) {
        const clamp = (value) => Math.max(value, u.scales.x.min);
        context.beginPath();
        context.moveTo(u.valToPos(clamp(bar[0]), "x", true), cy);
        context.lineTo(u.valToPos(clamp(bar[1]), "x", true), cy);
        context.moveTo(cx, u.valToPos(bar[2], "y", true));
        context.lineTo(cx, u.valToPos(bar[3], "y", true));
        context.stroke();
      }
      const r = 5 * ratio;
      context.beginPath();
      if (line.points === "disc") context.arc(cx, cy, r, 0, 7);
      if (line.points === "square") context.rect(cx - r, cy - r, 2 * r, 2 * r);
      if (line.points === "diamond") [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]].forEach(([a, b]) => context.lineTo(cx + a * r, cy + b * r));
      if (line.points === "triangle") [[0, -1.2], [1.2, 1], [-1.2, 1]].forEach(([a, b]) => context.lineTo(cx + a * r, cy + b * r));
      context.closePath();
      context.fill();
    });
    context.restore();
  }

  // The panels of one step.
  function panels(step) {
    const line = (column, name, colour, dash, more) => ({ column, name, colour, dash, ...more });
    return [
      { title: words["panel-goodput"], unit: "Mbit/s", height: 150, lines: [line("goodput", words["panel-goodput"], 1, 0)] },
      { title: step.cwnd_kb ? words["panel-cwnd-kb"] : words["panel-cwnd"], height: 120, lines: [line("cwnd", words["panel-cwnd"], 3, 0)] },
      { title: words["panel-delay"], height: 170, lines: [
        line("probe_high", words["series-probe"], 4, 2), line("probe_low", words["series-probe-low"], 0, 2),
        line("rtt", words["series-rtt"], 2, 0), line("queue", words["series-queue"], 1, 1) ] },
      { title: words["panel-retransmitted"], height: 90, lines: [line("retransmitted", words["panel-retransmitted"], 2, 0, { bars: true })] },
    ].map((panel) => ({ ...panel, lines: panel.lines.filter((l) => step[l.column].some((v) => v !== null)) }))
      // One probe a bucket is both the slowest and the fastest.
      .map((panel) => ({ ...panel, lines: panel.lines.filter((l) => l.column !== "probe_low" || step.probe_low.some((v, i) => v !== step.probe_high[i])) }))
      .filter((panel) => panel.lines.length > 0);
  }

  function timeline(step, place, readout) {
    place.replaceChildren();
    const shown = panels(step);
    const count = Math.max(...shown.flatMap((p) => p.lines.map((l) => step[l.column].length)));
    const x = Array.from({ length: count }, (_, i) => (step.from_ms + i * step.dt_ms) / 1e3);
    const all = [x[0], x[x.length - 1] + step.dt_ms / 1e3];
    const drawn = [];
    const ends = [];
    let busy = false;
    const zoom = (min, max) => {
      if (busy) return;
      busy = true;
      for (const plot of drawn) plot.setScale("x", { min, max });
      busy = false;
    };
    shown.forEach((panel, number) => {
      const labels = key(panel.unit ? `${panel.title} (${panel.unit})` : panel.title, panel.lines.length > 1 ? panel.lines : []);
      const single = panel.lines.length === 1 ? make("b") : null;
      if (single) labels.box.append(single);
      const body = make("div", "panel");
      place.append(labels.box, body);
      const last = number === shown.length - 1;
      const height = panel.height + (last ? 34 : 0);
      const plot = new uPlot({
        width: widthOf(body), height, legend: { show: false }, padding: [6, 10, last ? 0 : 4, 0],
        cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false }, points: { size: 6 }, y: false },
        scales: { x: { time: false, range: (_, low, high) => (low === x[0] && high === x[x.length - 1] ? all : [low, high]) },
          y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
        axes: [
          axis(last ? words["axis-time"] : "", last ? { size: 28, space: 60 } : { size: 0, values: (_, v) => v.map(() => "") }),
          axis("", { size: 50, space: 28 }),
        ],
        series: [{}, ...panel.lines.map((l) => ({
          label: l.name, stroke: colour("--c" + l.colour), width: l.bars ? 1 : 1.75, spanGaps: true, dash: DASHES[l.dash],
          fill: l.bars ? colour("--c" + l.colour) : undefined, points: { show: false },
          paths: l.bars ? uPlot.paths.bars({ size: [0.9, 12, 1] }) : undefined,
        }))],
        hooks: {
          drawClear: [(u) => outside(u, step.window_ms)],
          setScale: [(u, scale) => { if (scale === "x") zoom(u.scales.x.min, u.scales.x.max); }],
          setCursor: [(u) => {
            const i = u.cursor.idx;
            const texts = panel.lines.map((l) => (i === null || i === undefined ? "" : short(step[l.column][i])));
            if (single) single.textContent = texts[0]; else labels.show(texts);
          }],
        },
      }, [x, ...panel.lines.map((l) => step[l.column])], body);
      plot.step = step.n;
      plot.columns = panel.lines.map((l) => l.column);
      drawn.push(plot);
      ends.push(watch(plot, body, height));
    });
    const range = () => [drawn[0].scales.x.min, drawn[0].scales.x.max];
    const control = {
      end: () => ends.forEach((end) => end()),
      zoom: (factor) => {
        const [min, max] = range();
        const middle = (min + max) / 2;
        const half = Math.max(((max - min) / 2) * factor, (3 * step.dt_ms) / 1e3);
        zoom(Math.max(all[0], middle - half), Math.min(all[1], middle + half));
      },
      move: (share) => {
        const [min, max] = range();
        const by = Math.min(Math.max((max - min) * share, all[0] - min), all[1] - max);
        zoom(min + by, max + by);
      },
      all: () => zoom(all[0], all[1]),
      // The cursor by keys, with its values said.
      read: (by) => {
        const plot = drawn[0];
        const [min, max] = range();
        const first = x.findIndex((t) => t >= min);
        const lastSeen = x.findLastIndex((t) => t <= max);
        const now = plot.cursor.idx;
        const next = Math.min(Math.max((now ?? (by > 0 ? first - 1 : lastSeen + 1)) + by, first), lastSeen);
        for (const one of drawn) one.setCursor({ left: one.valToPos(x[next], "x"), top: 10 });
        const texts = shown.flatMap((panel) => panel.lines.map((l) => `${l.name} ${short(step[l.column][next])}`));
        readout.textContent = `${x[next].toFixed(3)} s: ${texts.join(", ")}`;
      },
      range,
    };
    return control;
  }

  // What is not counted lies in the shade.
  function outside(u, window) {
    if (!window) return;
    const { left, top, width, height } = u.bbox;
    const edge = (ms) => Math.min(Math.max(u.valToPos(ms / 1e3, "x", true), left), left + width);
    u.ctx.save();
    u.ctx.fillStyle = colour("--shade");
    u.ctx.fillRect(left, top, edge(window[0]) - left, height);
    const end = edge(window[1]);
    u.ctx.fillRect(end, top, left + width - end, height);
    u.ctx.restore();
  }

  // Texts of the page are small: what is deflated is inflated by the browser itself.
  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  let steps = null;
  let current = null;
  let chosen = null;
  let ends = [];

  function redraw() {
    ends.forEach((end) => end());
    ends = [];
    for (const chart of data.charts) {
      const place = document.querySelector(`[data-chart="${chart.id}"]`);
      place.replaceChildren();
      try {
        ends.push(draw(chart, place));
      } catch (error) {
        place.replaceChildren(make("p", "note", words.broken));
        throw error;
      }
    }
    if (steps) show(chosen);
  }

  function show(step) {
    chosen = step;
    const kept = current && current.step === step ? current.range() : null;
    if (current) current.end();
    current = timeline(step, document.querySelector(".panels"), document.querySelector(".readout"));
    current.step = step;
    if (kept) current.all();
    document.querySelector(".readout").textContent = "";
    const counted = step.window_ms ? `${words["time-window"]}: ${step.window_ms.map((ms) => (ms / 1e3).toFixed(1)).join("–")} s` : "";
    const bucket = words["time-bucket"].replace("\u2026", tick(step.dt_ms));
    document.querySelector(".keys").dataset.more = [bucket, counted].filter(Boolean).join(" · ");
  }

  async function timelines() {
    const packed = document.getElementById("timelines");
    if (!packed) return;
    const root = document.querySelector(".timeline");
    const read = await unpack(packed);
    steps = window.pathtwin.steps = read.steps;
    const select = root.querySelector("select");
    const groups = new Map();
    for (const step of steps) {
      if (!groups.has(step.group)) groups.set(step.group, []);
      groups.get(step.group).push(step);
    }
    for (const [name, members] of groups) {
      const group = make("optgroup");
      group.label = name;
      for (const step of members) {
        const option = make("option", "", `${name} ${step.name}`);
        option.value = step.n;
        group.append(option);
      }
      select.append(group);
    }
    if (read.left_out > 0) root.append(make("p", "note", words["time-left-out"].replace("\u2026", read.left_out)));
    for (const part of root.querySelectorAll("[hidden]")) part.hidden = false;
    const first = steps.find((step) => step.n === data.start) ?? steps[0];
    select.value = first.n;
    select.addEventListener("change", () => show(steps.find((step) => step.n === Number(select.value))));
    root.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
      if (button.dataset.zoom === "in") current.zoom(0.5);
      if (button.dataset.zoom === "out") current.zoom(2);
      if (button.dataset.zoom === "all") current.all();
    }));
    root.querySelector(".panels").addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const acts = {
        "+": () => current.zoom(0.5), "=": () => current.zoom(0.5), "-": () => current.zoom(2), "−": () => current.zoom(2),
        0: () => current.all(), ArrowLeft: () => (event.shiftKey ? current.read(-1) : current.move(-0.25)),
        ArrowRight: () => (event.shiftKey ? current.read(1) : current.move(0.25)),
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    });
    show(first);
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const printing = (on) => { document.documentElement.classList.toggle("printing", on); redraw(); };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
  redraw();
  window.pathtwin.ready = timelines().catch((error) => {
    document.querySelector(".timeline")?.append(make("p", "note", words.broken));
    console.error(error);
  });
})();
