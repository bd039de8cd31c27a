// Whoever waits for the network sees the page they wanted as soon as it is back.
addEventListener("online", () => location.reload());
