// What the theme's bundle expects under these names. The theme has this as an inline script, which
// the site's content security policy refuses.
window.__md_scope = new URL(document.currentScript.dataset.base, location);

window.__md_hash = (text) => {
  let sum = 0;
  for (const letter of text) sum = (Math.imul(sum, 31) + letter.codePointAt(0)) | 0;
  return sum;
};

window.__md_get = (name, storage = localStorage, scope = window.__md_scope) =>
  JSON.parse(storage.getItem(`${scope.pathname}.${name}`));

window.__md_set = (name, value, storage = localStorage, scope = window.__md_scope) => {
  try {
    storage.setItem(`${scope.pathname}.${name}`, JSON.stringify(value));
  } catch {
    // A browser that stores nothing asks again on the next page.
  }
};
