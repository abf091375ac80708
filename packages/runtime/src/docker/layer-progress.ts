import type { ImageLayerProgress } from '../runtime.ts';

/** Minimum milliseconds between two reports. */
const intervalMs = 250;

type ProgressLine = {
  readonly id?: string | undefined;
  readonly status?: string | undefined;
  readonly progressDetail?: { readonly current?: number | undefined; readonly total?: number | undefined } | undefined;
};

const states: Readonly<Record<string, ImageLayerProgress['state']>> = {
  'Pulling fs layer': 'waiting',
  Waiting: 'waiting',
  Downloading: 'downloading',
  'Verifying Checksum': 'downloading',
  'Download complete': 'downloading',
  Extracting: 'extracting',
  'Pull complete': 'complete',
  'Already exists': 'complete',
};

export function createLayerProgress(onProgress: (layers: readonly ImageLayerProgress[]) => void) {
  const layers = new Map<string, ImageLayerProgress>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  const flush = () => {
    if (layers.size > 0) onProgress([...layers.values()]);
    reportedAt = performance.now();
  };
  return {
    add: ({ id, status, progressDetail }: ProgressLine) => {
      const state = status === undefined ? undefined : states[status];
      if (id === undefined || state === undefined) return;
      const known = layers.get(id);
      const total = progressDetail?.total ?? 0;
      const totalBytes = total > 0 ? total : (known?.totalBytes ?? null);
      const isWhole = state === 'complete' || status === 'Download complete' || status === 'Verifying Checksum';
      const bytes = isWhole ? (totalBytes ?? known?.bytes ?? 0) : (progressDetail?.current ?? 0);
      layers.set(id, { id, state, bytes, totalBytes });
      if (performance.now() - reportedAt >= intervalMs) flush();
    },
    flush,
    /** Bytes of all layers, as far as they are known. A registry may send more than it stated. */
    bytes: () => [...layers.values()].reduce((sum, layer) => sum + Math.max(layer.totalBytes ?? 0, layer.bytes), 0),
  };
}
