// Editing a profile: the preview follows what is typed and which pictures are chosen.
for (const form of document.querySelectorAll("form[data-profile]")) {
  const shown = (name) => document.querySelector(`[data-preview="${name}"]`);
  for (const name of ["display_name", "note"]) {
    form.elements[name].addEventListener("input", (event) => (shown(name).textContent = event.target.value));
  }
  for (const name of ["avatar", "header"]) {
    form.elements[name].addEventListener("change", (event) => {
      const [file] = event.target.files;
      if (file) shown(name).src = URL.createObjectURL(file);
    });
  }
}
