import { formatBytes } from './format-bytes.ts';
import type { ImageLayer } from './operations/deployments.ts';

/** Formats a pull's progress, such as `2 of 9 layers, 12.5 MiB of 340.0 MiB`. Bytes are those of layers of known size. */
export function formatPullProgress(layers: readonly ImageLayer[]): string {
  const complete = layers.filter(({ state }) => state === 'complete').length;
  const received = layers.reduce((sum, layer) => sum + countReceivedBytes(layer), 0);
  const total = layers.reduce((sum, { totalBytes }) => sum + (totalBytes ?? 0), 0);
  const size = total === 0 ? '' : `, ${formatBytes(received)} of ${formatBytes(total)}`;
  return `${complete} of ${layers.length} layers${size}`;
}

/** While a layer is extracted, its `bytes` count what was extracted. */
function countReceivedBytes({ state, bytes, totalBytes }: ImageLayer): number {
  if (state === 'extracting' || state === 'complete') return totalBytes ?? bytes;
  return state === 'waiting' ? 0 : bytes;
}
