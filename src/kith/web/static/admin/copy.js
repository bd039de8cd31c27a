// Buttons that copy what stands beside them; without a script the text can be marked as any other.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  const words = button.firstChild.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.firstChild.textContent = button.dataset.done;
    setTimeout(() => (button.firstChild.textContent = words), 2000);
  });
}
