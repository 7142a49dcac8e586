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

  // One connection: its bytes by the ms, and the server's last measurement.
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

  // The browser sends, so the server's congestion control does not matter.
  const upload = (_, steps, last) => new Promise((done, failed) => {
    const socket = new WebSocket(address('ndt/v7/upload'), PROTOCOL);
    const piece = new Uint8Array(1 << 16);
    for (let i = 0; i < piece.length; i += 1) piece[i] = Math.random() * 256;
    let open = false;
    let begun = 0;
    let bytes = 0;
    socket.onmessage = (event) => {
      const said = JSON.parse(event.data);
      const { ElapsedTime: us, NumBytes: all } = said.AppInfo;
      last.push(said);
      // What the server has, by its clock, not what the browser has taken.
      steps.push([begun + us / 1000, all - bytes]);
      bytes = all;
    };
    socket.onopen = () => {
      open = true;
      begun = performance.now();
      const end = begun + 10000;
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

  // Bytes of a flow until a time. Those of a step came evenly since the step before.
  const arrived = (steps, time) => {
    let [[before]] = steps;
    let bytes = 0;
    for (const [at, n] of steps) {
      if (at > time) return bytes + (n * (time - before)) / (at - before);
      before = at;
      bytes += n;
    }
    return bytes;
  };

  // Goodput in Mbit/s of flows, each a list of times in ms and the bytes since the time before,
  // without the first two seconds, in which TCP finds its rate. From the first step after them to
  // the last: the bytes of that first step came partly earlier. Flows have their steps at different
  // times, so that it is from the latest first step to the earliest last one, while all flows run.
  const goodput = (flows) => {
    const begun = flows.filter((steps) => steps.length);
    const warm = Math.min(...begun.map((steps) => steps[0][0])) + 2000;
    const counted = begun.filter((steps) => steps[steps.length - 1][0] > warm);
    const from = Math.max(...counted.map((steps) => steps.find(([at]) => at > warm)[0]));
    const until = Math.min(...counted.map((steps) => steps[steps.length - 1][0]));
    const bytes = counted.reduce((sum, steps) => sum + arrived(steps, until) - arrived(steps, from), 0);
    return counted.length && until > from ? (bytes * 8) / (until - from) / 1000 : NaN;
  };

  const load = async (direction, cc, flows) => {
    const stop = await probes();
    const steps = Array.from({ length: flows }, () => []);
    const lasts = steps.map(() => []);
    await Promise.all(lasts.map((last, flow) => direction(cc, steps[flow], last)));
    const { rtts, lags } = stop();
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
    const measured = async (id, direction, cc, flows) => {
      say(text[id]);
      const result = await load(direction, cc, flows);
      lags.push(result.lag);
      show(id, result.mbps, id === 'down-many' && cc !== 'cubic' ? `Mbit/s (${cc})` : 'Mbit/s');
      show(`${id}-rtt`, result.rtt, 'ms');
      f.loaded = Math.max(f.loaded || 0, result.rtt);
      return result;
    };
    // A server may lack bbr, or may not be allowed cubic: there is no figure for it then.
    const unless = async (id, cc) => {
      try { return await measured(id, download, cc, 1); } catch (error) {
        show(id, NaN, '');
        return error;
      }
    };
    const bbr = await unless('down-bbr', 'bbr');
    const cubic = await unless('down-cubic', 'cubic');
    const one = [cubic, bbr].find((result) => result.infos);
    if (!one) throw cubic;
    f.bbr = bbr.mbps;
    f.cubic = cubic.mbps;
    f.one = one.mbps;
    f.retransmitted = sum(one.infos, 'BytesRetrans') / (sum(one.infos, 'BytesSent') || 1);
    f.receiver = sum(one.infos, 'RWndLimited') / (sum(one.infos, 'BusyTime') || 1);
    f.many = (await measured('down-many', download, one === cubic ? 'cubic' : 'bbr', 4)).mbps;
    await measured('up-one', upload, '', 1);
    await measured('up-many', upload, '', 4);
    f.lag = Math.max(...lags);
    const list = document.getElementById('verdict');
    const open = f.bbr && f.cubic ? [] : ['lacks'];
    list.replaceChildren(...verdict(f).concat(open).map((key) => {
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
  window.pathtwinSpeed = { goodput, verdict, run, running: null };
})();
