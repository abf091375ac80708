import type { SecretSetReadiness } from '@bothost/contract';
import { Badge } from '../components/badge.tsx';

type ReadinessProps = { readonly status: SecretSetReadiness; readonly isDamaged?: boolean };

/** Shows a badge on a secret set that agents cannot use: damaged, delivery failed, or being delivered. */
export function SecretSetReadinessBadge({ status, isDamaged = false }: ReadinessProps) {
  if (isDamaged) return <Badge tone="danger">Damaged</Badge>;
  if (status === 'failed') return <Badge tone="danger">Delivery failed</Badge>;
  return status === 'pending' ? <Badge tone="accent">Being delivered</Badge> : null;
}
