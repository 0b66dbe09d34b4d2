"""A UCI engine that plays the first legal move in the alphabet; a program of its own.

With a number as argument it ends itself at the move of this number.
"""

import sys

import chess


def main() -> None:
    """Answer commands until `quit`."""
    board, left = chess.Board(), int(sys.argv[1]) if len(sys.argv) > 1 else -1
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["uci"]:
                print("id name Tiny\nuciok", flush=True)
            case ["isready"]:
                print("readyok", flush=True)
            case ["position"]:
                board = read_position(words[1:])
            case ["go"]:
                left -= 1
                if left == 0:
                    sys.exit(1)
                first = min(move.uci() for move in board.legal_moves)
                print(f"bestmove {first}", flush=True)
            case ["quit"]:
                return


def read_position(words: list[str]) -> chess.Board:
    """Return the board of a command `position`."""
    at = words.index("moves") if "moves" in words else len(words)
    board = chess.Board() if words[0] == "startpos" else chess.Board(" ".join(words[1:at]))
    for move in words[at + 1 :]:
        board.push_uci(move)
    return board


if __name__ == "__main__":
    main()
