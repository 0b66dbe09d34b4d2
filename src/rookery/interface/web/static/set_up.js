// Set-up by hand on the page Analyse: the editor takes the place of a pane's opinion.

import { fetchJson } from "./connection.js";
import { toast } from "./dom.js";
import { GameLine } from "./game_line.js";
import { PositionEditor } from "./position_editor.js";

/** Edit the position on the board of `pane`; `onend` gets the new line, or null if none was made. */
export function setUp(pane, view, game, onend) {
  const end = (line) => {
    editor.close();
    pane.opinion.hidden = false;
    onend(line);
  };
  const editor = new PositionEditor(pane.board, view, {
    ondone: async (fen) => {
      try {
        const { start, moves } = await fetchJson("/api/games/read", { game, text: fen });
        end(new GameLine(game, start, moves));
      } catch (error) {
        toast(error.message, true);
      }
    },
    oncancel: () => end(null),
  });
  pane.opinion.hidden = true;
  pane.opinion.after(editor.element);
  editor.element.querySelector("button").focus({ preventScroll: true });
  return editor;
}
