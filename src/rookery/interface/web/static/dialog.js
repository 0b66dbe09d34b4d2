// Dialogs over the page. The browser keeps the focus inside and gives it back at the end.

import { button, h } from "./dom.js";

let dialogs = 0;

/** Show a dialog and remove it when it is closed. */
export function openDialog(title, content) {
  const name = `dialog-${++dialogs}`;
  const dialog = h("dialog", { "aria-labelledby": name }, h("h2", { id: name }, title), content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Show fields with a button for `action` and one to cancel. `submit` does the work: the dialog
 * closes after it, or shows the error that it throws. `refused` says why nothing can be done.
 */
export function openForm(title, fields, { action, iconName = null, submit, refused = "" }) {
  const problem = h("p", { class: "notice error", role: "alert", hidden: !refused }, refused);
  const go = button(action, iconName, null, "primary");
  go.type = "submit";
  go.disabled = Boolean(refused);
  const onsubmit = async (event) => {
    event.preventDefault();
    go.disabled = true;
    problem.hidden = true;
    try {
      await submit();
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
    go.disabled = false;
  };
  const cancel = button("Cancel", null, () => dialog.close(), "quiet");
  const buttons = h("div", { class: "row" }, go, cancel);
  const dialog = openDialog(title, h("form", { class: "stack", onsubmit }, fields, problem, buttons));
  return dialog;
}
