// The speed test of the page: loads by ndt7, probes beside them, and the verdict.
'use strict';
(() => {
  const PROTOCOL = 'net.measurementlab.ndt.v7';
  const text = JSON.parse(document.getElementById('words').dataset.words);
  const address = (path) => location.href.replace(/^http/, 'ws').replace(/[^/]*$/, '') + path;
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const half = Math.floor(sorted.length / 2);
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));

  // Probes, 20 a second, until `stop` is called; round trips in ms, and how late the browser was.
  const probes = async () => {
    const socket = new WebSocket(address('probe'));
    await new Promise((done, failed) => { socket.onopen = done; socket.onerror = () => failed(new Error(text.refused)); });
    const rtts = [];
    const lags = [];
    const sent = new Map();
    let number = 0;
    let due = performance.now();
    socket.onmessage = (event) => {
      const at = sent.get(event.data.split(' ')[0]);
      if (at !== undefined) rtts.push(performance.now() - at);
    };
    const timer = setInterval(() => {
      const now = performance.now();
      lags.push(now - due);
      due = now + 50;
      number += 1;
      sent.set(String(number), now);
      if (socket.readyState === 1) socket.send(String(number));
    }, 50);
    return () => { clearInterval(timer); socket.close(); return { rtts, lags }; };
  };

  // One connection: bytes by the ms, and the server's last measurement.
  const download = (cc, steps, last) => new Promise((done, failed) => {
    const socket = new WebSocket(address(`ndt/v7/download?cc=${cc}`), PROTOCOL);
    socket.binaryType = 'arraybuffer';
    let open = false;
    socket.onopen = () => { open = true; };
    socket.onmessage = (event) => {
      if (typeof event.data === 'string') last.push(JSON.parse(event.data));
      else steps.push([performance.now(), event.data.byteLength]);
    };
    socket.onclose = () => (open ? done() : failed(new Error(text.refused)));
  });

  const upload = (cc, steps, last) => new Promise((done, failed) => {
    const socket = new WebSocket(address(`ndt/v7/upload?cc=${cc}`), PROTOCOL);
    const piece = new Uint8Array(1 << 16);
    for (let i = 0; i < piece.length; i += 1) piece[i] = Math.random() * 256;
    let open = false;
    let bytes = 0;
    socket.onmessage = (event) => {
      const said = JSON.parse(event.data);
      last.push(said);
      // What the server has, not what the browser has taken.
      steps.push([performance.now(), said.AppInfo.NumBytes - bytes]);
      bytes = said.AppInfo.NumBytes;
    };
    socket.onopen = () => {
      open = true;
      const end = performance.now() + 10000;
      const more = () => {
        if (socket.readyState !== 1) return;
        if (performance.now() > end) { socket.close(); return; }
        while (socket.bufferedAmount < 16 * piece.length) socket.send(piece);
        setTimeout(more, 1);
      };
      more();
    };
    socket.onclose = () => (open ? done() : failed(new Error(text.refused)));
  });

  // Goodput in Mbit/s without the first two seconds, in which TCP finds its rate.
  const goodput = (steps) => {
    const from = steps[0][0] + 2000;
    const counted = steps.filter(([at]) => at > from);
    const until = steps[steps.length - 1][0];
    const bytes = counted.reduce((sum, [, n]) => sum + n, 0);
    return until > from ? (bytes * 8) / (until - from) / 1000 : NaN;
  };

  const load = async (direction, cc, flows) => {
    const stop = await probes();
    const steps = [];
    const lasts = Array.from({ length: flows }, () => []);
    await Promise.all(lasts.map((last) => direction(cc, steps, last)));
    const { rtts, lags } = stop();
    steps.sort((a, b) => a[0] - b[0]);
    const infos = lasts.map((last) => last[last.length - 1]).filter((m) => m && m.TCPInfo);
    return { mbps: goodput(steps), rtt: median(rtts), lag: median(lags), infos };
  };

  const sum = (infos, name) => infos.reduce((all, info) => all + (info.TCPInfo[name] || 0), 0);

  // What limits, by the figures of both ends: keys of texts. Pure, so that it can be tested.
  const verdict = (f) => {
    const found = [];
    if (f.lag > 50) found.push('browser');
    if (f.bbr && f.cubic && f.bbr > 1.3 * f.cubic && f.retransmitted > 0.0005) found.push('control');
    if (f.receiver > 0.3) found.push('receiver');
    if (f.loaded - f.idle > 100) found.push('buffer');
    if (f.idleHigh - f.idle > 30) found.push('wireless');
    if (f.many > 1.3 * f.one && !found.includes('control') && !found.includes('receiver')) found.push('single');
    return found.length ? found : ['none'];
  };

  const show = (id, value, unit) => {
    const place = document.getElementById(id);
    place.textContent = Number.isFinite(value) ? `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${unit}` : '–';
  };
  const say = (words) => { document.getElementById('status').textContent = words; };

  const run = async () => {
    const f = {};
    say(text.idle);
    const stop = await probes();
    await wait(3000);
    const { rtts } = stop();
    f.idle = median(rtts);
    f.idleHigh = [...rtts].sort((a, b) => a - b)[Math.floor(rtts.length * 0.95)];
    show('idle', f.idle, 'ms');
    const lags = [];
    for (const [id, direction, cc, flows] of [
      ['down-bbr', download, 'bbr', 1], ['down-cubic', download, 'cubic', 1],
      ['down-many', download, 'cubic', 4], ['up-one', upload, 'cubic', 1], ['up-many', upload, 'cubic', 4],
    ]) {
      say(text[id]);
      let result;
      try { result = await load(direction, cc, flows); } catch (error) {
        // A server without bbr has no figure for it.
        if (cc !== 'bbr') throw error;
        show(id, NaN, '');
        continue;
      }
      lags.push(result.lag);
      show(id, result.mbps, 'Mbit/s');
      show(`${id}-rtt`, result.rtt, 'ms');
      f.loaded = Math.max(f.loaded || 0, result.rtt);
      if (id === 'down-bbr') f.bbr = result.mbps;
      if (id === 'down-many') f.many = result.mbps;
      if (id === 'down-cubic') {
        f.cubic = result.mbps;
        f.one = result.mbps;
        f.retransmitted = sum(result.infos, 'BytesRetrans') / (sum(result.infos, 'BytesSent') || 1);
        f.receiver = sum(result.infos, 'RWndLimited') / (sum(result.infos, 'ElapsedTime') || 1);
      }
    }
    f.lag = Math.max(...lags);
    const list = document.getElementById('verdict');
    list.replaceChildren(...verdict(f).map((key) => {
      const item = document.createElement('li');
      item.textContent = text[`verdict-${key}`];
      return item;
    }));
    say(text.done);
    return f;
  };

  const button = document.getElementById('start');
  button.addEventListener('click', () => {
    button.disabled = true;
    window.pathtwinSpeed.running = run()
      .catch((error) => say(error.message))
      .finally(() => { button.disabled = false; });
  });
  window.pathtwinSpeed = { verdict, run, running: null };
})();
