import type { SecretSetDetails } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { FileUp, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { isNotFoundError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DangerAction, DangerZone } from '../components/danger-zone.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { MissingObject } from '../components/missing-object.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { DeleteSetDialog } from './delete-set-dialog.tsx';
import { EnvFileDialog } from './env-file-dialog.tsx';
import { secretSetQuery, useRefreshSecrets } from './queries.ts';
import { SecretSetReadinessBadge } from './readiness-badge.tsx';
import { SecretHistory } from './secret-history.tsx';
import { SetValueDialog } from './set-value-dialog.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/secrets/$set');

/** The page at `/orgs/:organization/secrets/:set`: the keys of a secret set, the agents that use it, and its history. */
export function SecretSetPage() {
  const { set: setName } = route.useParams();
  const { name: organization } = useMembership();
  const set = useQuery(secretSetQuery(organization, setName));
  if (isNotFoundError(set.error)) {
    return (
      <MissingObject icon={KeyRound} title={`No secret set is named ${setName}`}>
        <Button asChild variant="outline">
          <Link to="/orgs/$organization/secrets" params={{ organization }}>
            Show all secrets
          </Link>
        </Button>
      </MissingObject>
    );
  }
  return <QueryBoundary query={set}>{(data) => <SecretSet key={data.name} set={data} />}</QueryBoundary>;
}

function SecretSet({ set }: { readonly set: SecretSetDetails }) {
  const membership = useMembership();
  const { name: organization } = membership;
  const { name, region, revision, status, errorMessage } = set;
  return (
    <div className="flex flex-col gap-8">
      <div className="flex flex-col gap-4">
        <PageHeader
          title={name}
          parent={
            <Link to="/orgs/$organization/secrets" params={{ organization }}>
              Secrets
            </Link>
          }
          lead={`Secret set in ${region}, revision ${revision}.`}
          actions={<SecretSetReadinessBadge status={status} />}
        />
        {errorMessage !== undefined && <Alert>{errorMessage}</Alert>}
      </div>
      <Keys set={set} />
      <Agents set={set} />
      <SecretHistory set={set} />
      <EquivalentShellCommand command={botcliCommands.showSecretSet(organization, name)} />
      {canCallOperation(membership, 'deleteSecretSet') && <DeleteSet set={set} />}
    </div>
  );
}

type OpenDialog =
  | { readonly action: 'add' | 'import' }
  | { readonly action: 'replace' | 'remove'; readonly key: string };

function Keys({ set: { name, secrets } }: { readonly set: SecretSetDetails }) {
  const membership = useMembership();
  const { name: organization } = membership;
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const refresh = useRefreshSecrets(organization);
  const mayWrite = canCallOperation(membership, 'putSecrets');
  const close = () => setOpen(null);
  return (
    <Section
      title="Keys"
      lead="Values are never shown. Equal values of a key have equal fingerprints."
      actions={
        mayWrite && (
          <div className="flex flex-wrap gap-2">
            <Button variant="outline" onClick={() => setOpen({ action: 'import' })}>
              <FileUp aria-hidden="true" className="size-4" />
              Import .env
            </Button>
            <Button onClick={() => setOpen({ action: 'add' })}>
              <Plus aria-hidden="true" className="size-4" />
              Add key
            </Button>
          </div>
        )
      }
    >
      <RowList
        label="Keys"
        items={secrets}
        empty={
          <EmptyState icon={KeyRound} title="No keys">
            Agents with this set get no environment variables from it.
          </EmptyState>
        }
      >
        {({ fieldName, fingerprint, revision, updatedAt }) => (
          <Row
            key={fieldName}
            title={<code className="font-mono text-sm">{fieldName}</code>}
            facts={[
              `Fingerprint ${fingerprint}`,
              `Revision ${revision}`,
              <>
                Updated <RelativeTime at={updatedAt} />
              </>,
            ]}
            actions={
              mayWrite && (
                <>
                  <Button
                    variant="outline"
                    size="small"
                    onClick={() => setOpen({ action: 'replace', key: fieldName })}
                    aria-label={`Replace ${fieldName}`}
                  >
                    Replace
                  </Button>
                  <Button
                    variant="danger"
                    size="small"
                    onClick={() => setOpen({ action: 'remove', key: fieldName })}
                    aria-label={`Remove ${fieldName}`}
                  >
                    Remove
                  </Button>
                </>
              )
            }
          />
        )}
      </RowList>
      {open?.action === 'import' && <EnvFileDialog setName={name} onClose={close} />}
      {open?.action === 'add' && <SetValueDialog setName={name} secretKey={null} onClose={close} />}
      {open?.action === 'replace' && <SetValueDialog setName={name} secretKey={open.key} onClose={close} />}
      {open?.action === 'remove' && (
        <ConfirmDialog
          title={`Remove ${open.key}?`}
          lead="Agents that run keep it until their next deploy. The history can restore it."
          action="Remove key"
          command={botcliCommands.unsetSecret(organization, name, open.key)}
          run={() => getOrganizationApi(organization).deleteSecret({ params: { setName: name, secretKey: open.key } })}
          onDone={() => refresh(`${open.key} is removed.`)}
          onClose={close}
        />
      )}
    </Section>
  );
}

function Agents({ set: { agents } }: { readonly set: SecretSetDetails }) {
  const { name: organization } = useMembership();
  return (
    <Section
      title="Agents"
      lead={agents.length === 0 ? 'No agent uses this set.' : 'They use a new revision after their next deploy.'}
      help="secrets#what-bots-get"
    >
      {agents.length > 0 && (
        <RowList label="Agents" items={agents}>
          {({ name, revision, stale }) => (
            <Row
              key={name}
              title={
                <>
                  <Link
                    to="/orgs/$organization/agents/$agent"
                    params={{ organization, agent: name }}
                    className="underline-offset-4 hover:underline"
                  >
                    {name}
                  </Link>
                  {stale && <Badge tone="accent">Stale</Badge>}
                </>
              }
              facts={[`Revision ${revision}`, ...(stale ? ['Deploy it again on its page'] : [])]}
            />
          )}
        </RowList>
      )}
    </Section>
  );
}

function DeleteSet({ set }: { readonly set: SecretSetDetails }) {
  const { name: organization } = useMembership();
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <DangerZone>
      <DangerAction title="Delete the secret set" lead="Running bots keep their values.">
        <Button variant="danger" onClick={() => setOpen(true)}>
          Delete
        </Button>
      </DangerAction>
      {isOpen && (
        <DeleteSetDialog
          set={set}
          agents={set.agents.map(({ name }) => name)}
          onDone={() => navigate({ to: '/orgs/$organization/secrets', params: { organization } })}
          onClose={() => setOpen(false)}
        />
      )}
    </DangerZone>
  );
}
