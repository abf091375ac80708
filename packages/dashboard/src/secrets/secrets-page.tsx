import { formatCount, type SecretSetListItem } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { FileUp, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import { EnvFileDialog } from './env-file-dialog.tsx';
import { ImagePullSecrets } from './image-pull-secrets.tsx';
import { secretListQuery } from './queries.ts';
import { SecretSetReadinessBadge } from './readiness-badge.tsx';
import { SetValueDialog } from './set-value-dialog.tsx';

/** The page at `/orgs/:organization/secrets`: secret sets and image pull secrets. */
export function SecretsPage() {
  const { name: organization } = useMembership();
  const secrets = useQuery(secretListQuery(organization));
  return (
    <div className="flex flex-col gap-8">
      <PageHeader title="Secrets" lead="Stored encrypted. No page, command or response shows a value." />
      <QueryBoundary query={secrets}>
        {({ sets }) => (
          <>
            <SecretSets sets={sets.filter(({ type }) => type === 'secret')} />
            <ImagePullSecrets sets={sets.filter(({ type }) => type === 'imagePullSecret')} />
          </>
        )}
      </QueryBoundary>
      <EquivalentShellCommand command={botcliCommands.listSecretSets(organization)} />
    </div>
  );
}

function SecretSets({ sets }: { readonly sets: readonly SecretSetListItem[] }) {
  const membership = useMembership();
  const { name: organization } = membership;
  const [open, setOpen] = useState<'create' | 'import' | null>(null);
  const navigate = useNavigate();
  const create = canCallOperation(membership, 'putSecrets') && (
    <div className="flex flex-wrap gap-2">
      <Button variant="outline" onClick={() => setOpen('import')}>
        <FileUp aria-hidden="true" className="size-4" />
        Import .env
      </Button>
      <Button onClick={() => setOpen('create')}>
        <Plus aria-hidden="true" className="size-4" />
        Create set
      </Button>
    </div>
  );
  const dialog = {
    setName: null,
    onDone: (set: string) => navigate({ to: '/orgs/$organization/secrets/$set', params: { organization, set } }),
    onClose: () => setOpen(null),
  };
  return (
    <Section
      title="Secret sets"
      lead="An agent uses one set. Its bots get each key as an environment variable."
      actions={sets.length > 0 && create}
    >
      <RowList
        label="Secret sets"
        items={sets}
        empty={
          <EmptyState icon={KeyRound} title="No secret sets">
            Bots get the keys of their providers from a secret set, not from their code.
            {create}
          </EmptyState>
        }
      >
        {({ name, region, status, damaged = false, keyCount, revision, updatedAt, errorMessage }) => (
          <Row
            key={name}
            title={
              <>
                <Link
                  to="/orgs/$organization/secrets/$set"
                  params={{ organization, set: name }}
                  className="underline-offset-4 hover:underline"
                >
                  {name}
                </Link>
                <SecretSetReadinessBadge status={status} isDamaged={damaged} />
              </>
            }
            facts={[
              region,
              formatCount(keyCount, 'key'),
              `Revision ${revision}`,
              <>
                Updated <RelativeTime at={updatedAt} />
              </>,
              ...(errorMessage === undefined ? [] : [errorMessage]),
            ]}
          />
        )}
      </RowList>
      {open === 'create' && <SetValueDialog {...dialog} secretKey={null} />}
      {open === 'import' && <EnvFileDialog {...dialog} />}
    </Section>
  );
}
