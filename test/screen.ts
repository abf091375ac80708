/** Returns the text on a terminal screen after the output `written`. Interprets escape sequences and drops colors. */
export function renderTerminalScreen(written: string): string {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  const line = (index: number): string[] => {
    while (rows.length <= index) rows.push([]);
    return rows[index] ?? [];
  };
  const moves: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => {
      row = Math.max(0, row - count);
    },
    B: (count) => {
      row += count;
    },
    C: (count) => {
      column += count;
    },
    D: (count) => {
      column = Math.max(0, column - count);
    },
    G: (count) => {
      column = count - 1;
    },
  };
  const put = (text: string) => {
    for (const character of text) {
      if (character === '\n') row += 1;
      else if (character === '\r') column = 0;
      else {
        const cells = line(row);
        while (cells.length < column) cells.push(' ');
        cells[column] = character;
        column += 1;
      }
    }
  };
  const [first = '', ...rest] = written.split('\u001b[');
  put(first);
  for (const part of rest) {
    const [, given = '', command = '', text = ''] = /^([?\d;]*)([A-Za-z])(.*)$/su.exec(part) ?? [];
    if (command === 'J') rows.splice(row + 1);
    if (command === 'J' || command === 'K') line(row).splice(given === '2' ? 0 : column);
    else moves[command]?.(Number(given) || 1);
    put(text);
  }
  return rows.map((cells) => cells.join('').trimEnd()).join('\n');
}
