import type { ImageLayer } from '@bothost/contract';
import { formatMebibytes } from '../output/format.ts';

const shownLayers = 12;
const barWidth = 20;

/** Formats each layer that is not complete as a line with a progress bar. Layers that do not fit are counted. */
export function formatPullLayers(layers: readonly ImageLayer[]): readonly string[] {
  const open = layers.filter(({ state }) => state !== 'complete');
  const hidden = open.length - shownLayers;
  return [...open.slice(0, shownLayers).map(formatLayer), ...(hidden > 0 ? [`  and ${hidden} more`] : [])];
}

function formatLayer(layer: ImageLayer): string {
  const { id, state, bytes, totalBytes } = layer;
  if (state === 'waiting') return `  ${id} waiting`;
  if (totalBytes === null || totalBytes === 0) return `  ${id} ${state} ${formatMebibytes(bytes)}`;
  const filled = Math.round((barWidth * Math.min(bytes, totalBytes)) / totalBytes);
  const bar = '='.repeat(filled).padEnd(barWidth);
  return `  ${id} ${state} (${bar}) ${formatMebibytes(bytes)} of ${formatMebibytes(totalBytes)}`;
}
