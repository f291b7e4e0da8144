// What the scripts say, in the page's language: annotations/answering/script_words.py has the texts.
const texts = JSON.parse(document.getElementById("words").textContent);

export const word = (name, values = {}) => texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
export const timeNow = () => new Date().toLocaleTimeString(document.documentElement.lang);
export const counted = (number) => number.toLocaleString(document.documentElement.lang);
