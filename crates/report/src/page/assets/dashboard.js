// Renews what has changed: reads the same page again, and replaces elements with data-live.
'use strict';
(() => {
  const EVERY_MS = 10000;
  const renew = async () => {
    if (document.hidden) return;
    const response = await fetch(location.href, { credentials: 'same-origin' });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const old of document.querySelectorAll('[data-live]')) {
      const now = fresh.getElementById(old.id);
      // What the reader is in stays: a link would lose its focus.
      const busy = old.contains(document.activeElement) || old.querySelector('details[open]');
      if (now && !busy && now.outerHTML !== old.outerHTML) old.replaceWith(now);
    }
  };
  const again = () => renew().catch(() => {}).finally(() => setTimeout(again, EVERY_MS));
  window.pathtwinRenew = renew;
  setTimeout(again, EVERY_MS);
})();
