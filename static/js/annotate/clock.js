// Active time on an item: gaps of more than half a minute without any movement, and hidden tabs, do not count.
const IDLE = 30_000;
let active = 0;
let last = performance.now();

function tick() {
  const now = performance.now();
  if (!document.hidden && now - last < IDLE) active += now - last;
  last = now;
}

for (const event of ["keydown", "pointerdown", "pointermove", "scroll", "focusin"]) {
  document.addEventListener(event, tick, { passive: true, capture: true });
}
document.addEventListener("visibilitychange", () => { last = performance.now(); });

export function start(already) {
  active = 1000 * already;
  last = performance.now();
}

export function seconds() {
  tick();
  return (active / 1000).toFixed(2);
}
