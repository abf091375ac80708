import { merge, mergeDigIn } from 'node-diff3';
import { markedAsMine } from './markers.ts';

/** A file as it is, as it was generated (null where that is not known), and as it would be generated now. */
export type ThreeTexts = { readonly now: string; readonly base: string | null; readonly wish: string };

/** With a conflict, `text` has both sides between markers, as git writes them. */
export type Merged = { readonly text: string; readonly hasConflict: boolean };

/** Merges by lines. `generator` stands at the markers of the new lines. */
export function mergeTexts({ now, base, wish }: ThreeTexts, generator: string): Merged {
  const [mine, theirs] = [now.split('\n'), wish.split('\n')];
  if (base !== null) {
    const { conflict, result } = merge(mine, base.split('\n'), theirs);
    if (!conflict) return { text: result.join('\n'), hasConflict: false };
  }
  const label = { a: markedAsMine, b: generator };
  const { result } = mergeDigIn(mine, base?.split('\n') ?? [], theirs, { label });
  return { text: result.join('\n'), hasConflict: true };
}
