import { formatBytes, formatPullProgress, type ImageLayer } from '@bothost/contract';

/** Shows the progress of the pull of an image: in total, and for each layer that is not complete. */
export function PullProgress({ layers }: { readonly layers: readonly ImageLayer[] }) {
  const open = layers.filter(({ state }) => state !== 'complete');
  return (
    <div className="flex flex-col gap-1.5 text-quiet text-sm">
      <p>Pulled {formatPullProgress(layers)}</p>
      <ul aria-label="Layers" className="flex flex-col gap-1">
        {open.map(({ id, state, bytes, totalBytes }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3">
            <code className="font-mono text-xs">{id}</code>
            {totalBytes !== null && state !== 'waiting' && (
              <progress
                aria-label={`Layer ${id}`}
                value={bytes}
                max={totalBytes}
                className="h-2 w-40 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
              />
            )}
            <span>
              {state}
              {totalBytes !== null && ` ${formatBytes(bytes)} of ${formatBytes(totalBytes)}`}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
