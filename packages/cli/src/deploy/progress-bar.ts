import { byteSize } from '../values.ts';

/** How far something has come, as one line: `████░░ 42 %  3.1 of 7.4 MiB  1.2 MiB/s`. */
export function progressBar(done: number, total: number, seconds: number, startedAt: number): string {
  const share = total === 0 ? 1 : done / total;
  const width = 24;
  const full = Math.round(share * width);
  const speed = seconds < 0.5 ? '' : `  ${byteSize((done - startedAt) / seconds)}/s`;
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(share * 100)} %  ${byteSize(done)} of ${byteSize(total)}${speed}`;
}
