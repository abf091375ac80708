import { structuredPatch } from 'diff';

/** A line of a difference. Its number is that in the new text, or in the old text for a removed line. */
export type DifferenceLine = {
  readonly kind: 'added' | 'removed' | 'equal';
  readonly number: number;
  readonly text: string;
};

/** Parts of two texts that differ, each with three equal lines before and after. Null if finding them takes too long. */
export function findTextDifferences(from: string, to: string): readonly (readonly DifferenceLine[])[] | null {
  const patch = structuredPatch('', '', from, to, '', '', { context: 3, timeout: 1_000 });
  if (patch === undefined) return null;
  return patch.hunks.map(({ oldStart, newStart, lines }) => {
    let [oldNumber, newNumber] = [oldStart, newStart];
    return lines.flatMap((line): readonly DifferenceLine[] => {
      const text = line.slice(1);
      switch (line[0]) {
        case '-':
          return [{ kind: 'removed', number: oldNumber++, text }];
        case '+':
          return [{ kind: 'added', number: newNumber++, text }];
        case '\\':
          // "No newline at end of file".
          return [{ kind: 'equal', number: newNumber, text: line }];
        default:
          oldNumber += 1;
          return [{ kind: 'equal', number: newNumber++, text }];
      }
    });
  });
}
