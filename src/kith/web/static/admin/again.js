// A page that shows how something goes looks again by itself, unless somebody is about to do something on it.
const place = document.querySelector("[data-again]");
setTimeout(() => {
  const at = document.activeElement;
  if (!at || at === document.body || at.tagName === "MAIN") location.reload();
}, Number(place.dataset.again) * 1000);
