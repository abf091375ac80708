import { formatLatency } from '../components/format.ts';
import { formatShare, isWorse, type Outcomes } from './outcomes.ts';

/** The share of sessions of a deployment that failed, and that of the former one if it was clearly lower. */
export function FailureShare({ figures, former }: Outcomes) {
  const isHigher = isWorse(figures, former).failures;
  return <Figure text={formatShare(figures)} former={isHigher && former !== undefined ? formatShare(former) : null} />;
}

/** The median response time of a deployment, and that of the former one if it was clearly shorter. */
export function MedianResponse({ figures, former }: Outcomes) {
  const isSlower = isWorse(figures, former).responses;
  const [current, before] = [figures.responseP50Ms, former?.responseP50Ms ?? null];
  if (current === null) return '–';
  return <Figure text={formatLatency(current)} former={isSlower && before !== null ? formatLatency(before) : null} />;
}

function Figure({ text, former }: { readonly text: string; readonly former: string | null }) {
  if (former === null) return text;
  return (
    <span className="font-medium text-danger">
      {text} (previously {former})
    </span>
  );
}
