// Keeps a part of a page fresh while somebody looks at it: `data-live` holds the address, `data-every` the seconds.
// 204 means nothing has changed, 286 that nothing will any more.
(() => {
  function keepFresh(element) {
    let mark = element.dataset.mark || "";
    let stopped = false;
    let waiting = false;

    async function look() {
      if (stopped || waiting || document.hidden || !element.checkVisibility()) return;
      waiting = true;
      try {
        const separator = element.dataset.live.includes("?") ? "&" : "?";
        const answer = await fetch(`${element.dataset.live}${separator}mark=${encodeURIComponent(mark)}`);
        stopped = answer.status === 286 || answer.status === 403 || answer.status === 404;
        if (answer.ok && answer.status !== 204 && !answer.redirected) {
          mark = answer.headers.get("X-Mark") || "";
          element.innerHTML = await answer.text();
          document.dispatchEvent(new CustomEvent("live", { detail: element }));
        }
      } catch { /* the next look tries again */ } finally {
        waiting = false;
      }
    }

    setInterval(look, 1000 * Number(element.dataset.every || 2));
    document.addEventListener("visibilitychange", look);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-live]").forEach(keepFresh));
})();
