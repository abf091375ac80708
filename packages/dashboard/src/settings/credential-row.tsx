import type { ReactNode } from 'react';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Row } from '../components/row-list.tsx';
import { RelativeTime } from '../components/time.tsx';
import { getCredentialStatus } from './credential-status.ts';

type Credential = {
  readonly name: string;
  readonly start: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt?: string | null;
};

type CredentialRowProps = {
  readonly credential: Credential;
  readonly badge?: ReactNode;
  /** Revokes the key or token. Absent if the person is not allowed to revoke it. */
  readonly onRevoke?: (() => void) | undefined;
};

/** A key or a personal token in a list. */
export function CredentialRow({ credential, badge, onRevoke }: CredentialRowProps) {
  const { name, start, createdAt, expiresAt, lastUsedAt, revokedAt } = credential;
  const status = getCredentialStatus(credential, new Date());
  return (
    <Row
      title={
        <>
          {name}
          <code className="font-mono font-normal text-quiet text-sm">{start}…</code>
          {status === 'expired' && <Badge tone="danger">Expired</Badge>}
          {status === 'revoked' && <Badge>Revoked</Badge>}
          {badge}
        </>
      }
      facts={[
        <>Created {<RelativeTime at={createdAt} />}</>,
        lastUsedAt === null ? 'Never used' : <>Last used {<RelativeTime at={lastUsedAt} />}</>,
        revokedAt != null ? (
          <>Revoked {<RelativeTime at={revokedAt} />}</>
        ) : expiresAt === null ? (
          'Does not expire'
        ) : (
          <>
            {status === 'expired' ? 'Expired' : 'Expires'} <RelativeTime at={expiresAt} />
          </>
        ),
      ]}
      actions={
        onRevoke !== undefined &&
        status !== 'revoked' && (
          <Button variant="danger" size="small" onClick={onRevoke} aria-label={`Revoke ${name}`}>
            Revoke
          </Button>
        )
      }
    />
  );
}
